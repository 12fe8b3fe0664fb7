/** Sandboxes on this machine, their client, and their only way out. */
import path from 'node:path';
import { AllowList, EgressProxy, Outbound, OutboundWebFetch } from '@manyhands/adapter-egress';
import { LocalSandboxProvider } from '@manyhands/adapter-embedded';
import { HandClients } from '@manyhands/adapter-hand';
import type { SessionState } from '@manyhands/core';
import type { Clock, Logger, WebFetch } from '@manyhands/ports';
import type { EnvironmentSettings, Networking, SessionId } from '@manyhands/protocol';
import { sessionStream } from '@manyhands/protocol';
import type { SessionLogService } from '@manyhands/runtime';
import { HandsOfSession } from '@manyhands/runtime';
import type { Config } from './config.ts';
import type { Data } from './open-data.ts';
import { socketDirectory } from './socket-directory.ts';

const handBundle = path.resolve(import.meta.dirname, '../../hand/dist/hand.mjs');
const unrestricted: Networking = { type: 'unrestricted' };

export interface HandParts {
  provider: LocalSandboxProvider;
  egress: EgressProxy;
  hands: HandsOfSession;
  webFetch: WebFetch;
}

interface Deps {
  config: Config;
  data: Data;
  log: SessionLogService;
  clock: Clock;
  logger: Logger;
}

export async function openHands({ config, data, log, clock, logger }: Deps): Promise<HandParts> {
  const outbound = new Outbound({ allowList: new AllowList(config.egressAllow) });
  const egress = new EgressProxy({ directory: socketDirectory(data.directory, 'egress'), outbound, logger });
  const provider = await LocalSandboxProvider.open({
    directory: path.join(data.directory, 'hands'),
    handBundle,
    grantPublicKey: data.signingKey.publicKey,
    egressSocketFor: async ({ sessionId }, environment) =>
      (await egress.open(sessionId, () => networkingOf(log, sessionId, environment))).socketPath,
    releaseEgress: ({ sessionId }) => egress.close(sessionId),
    logger,
    unsafeNoIsolation: config.unsafeNoIsolation,
    idleMs: config.handIdleMs,
    hidden: [data.directory],
  });
  const connector = new HandClients(data.signingKey.privateKey);
  const hands = new HandsOfSession({ provider, connector, environmentOf: (state) => environmentOf(log, state), clock });
  return { provider, egress, hands, webFetch: new OutboundWebFetch({ outbound }) };
}

/** The environment as it stands now; one that was deleted lives on in the sessions that were made with it. */
async function environmentOf(log: SessionLogService, state: SessionState): Promise<EnvironmentSettings> {
  const current = await log.environment(state.workspaceId, state.environmentId);
  if (current) return current.value;
  const { records } = await log.getEvents(sessionStream(state.sessionId), {
    kinds: ['session.created'],
    limit: 1,
  });
  const created = records[0];
  if (created?.kind !== 'session.created') throw new Error(`session ${state.sessionId} has no beginning`);
  return created.payload.environment;
}

/** Asked at each connection, so that an updated environment holds at once. */
async function networkingOf(
  log: SessionLogService,
  sessionId: SessionId,
  atStart: EnvironmentSettings,
): Promise<Networking> {
  const state = await log.getState(sessionId);
  const current = state && (await log.environment(state.workspaceId, state.environmentId));
  const { config } = current ? current.value : atStart;
  return config.type === 'cloud' ? config.networking : unrestricted;
}
