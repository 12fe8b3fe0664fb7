import { parseArgs } from 'node:util';
import { startScriptedModel } from './server.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, host: { type: 'string', default: '127.0.0.1' } },
});

const model = await startScriptedModel({ port: Number(values.port), host: values.host });
console.log(model.baseUrl);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void model.close());
}
