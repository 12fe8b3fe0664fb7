/** What the public API needs: ports, and what the process knows about keys, models and limits. */
import type { Metrics } from '@manyhands/platform';
import type { Clock, LiveBus, Logger, SessionService } from '@manyhands/ports';
import type { EffortLevel } from '@manyhands/protocol';

import type { Authenticate } from './api-keys.ts';
import type { StreamLimits } from './stream/open-streams.ts';

/** Knowledge of the models' profiles. */
export interface ModelKnowledge {
  hasPrice(model: string): boolean;
  defaultEffort(model: string): EffortLevel;
  supportsMidConversationSystem(model: string): boolean;
}

export interface PublicApiOptions extends StreamLimits {
  authenticate: Authenticate;
  models: ModelKnowledge;
  /** Whether a search provider is configured. */
  hasWebSearch: boolean;
}

export interface PublicApi {
  sessions: SessionService;
  liveBus: LiveBus;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
  options: PublicApiOptions;
}

/** Injection token of `PublicApi`. */
export const PUBLIC_API = Symbol('PublicApi');
