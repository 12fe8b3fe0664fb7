export { fixedApiKeys, type Authenticate, type Identity } from './api-keys.ts';
export { createHttpServer, type HttpServer } from './http-server.ts';
export { PublicApiModule } from './public-api.module.ts';
export type { ModelKnowledge, PublicApi, PublicApiOptions } from './public-api.ts';
