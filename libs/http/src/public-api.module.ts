import { Module, type DynamicModule } from '@nestjs/common';

import { AgentsController } from './agents.controller.ts';
import { Drain } from './drain.ts';
import { EnvironmentsController } from './environments.controller.ts';
import { EventsController } from './events.controller.ts';
import { HealthController } from './health.controller.ts';
import { PUBLIC_API, type PublicApi } from './public-api.ts';
import { ResourcesController } from './resources.controller.ts';
import { SessionsController } from './sessions.controller.ts';
import { OpenStreams } from './stream/open-streams.ts';
import { ThreadsController } from './threads.controller.ts';

@Module({})
export class PublicApiModule {
  static register(api: PublicApi): DynamicModule {
    const streams = new OpenStreams(api.options, api);
    return {
      module: PublicApiModule,
      controllers: [
        AgentsController,
        EnvironmentsController,
        SessionsController,
        EventsController,
        ThreadsController,
        ResourcesController,
        HealthController,
      ],
      providers: [
        { provide: PUBLIC_API, useValue: api },
        { provide: OpenStreams, useValue: streams },
        { provide: Drain, useValue: new Drain(streams, api.clock) },
      ],
    };
  }
}
