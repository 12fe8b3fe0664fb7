/** Takes client events: the path between a user's message and the first token, so it does nothing it need not do. */
import {
  unsupportedInEvents,
  type IdempotencyMark,
  type SendEventsBody,
  type SessionEvent,
  type SessionId,
} from '@manyhands/protocol';

import { ApiError, doneOrRefuse } from './api-error.ts';
import type { Identity } from './api-keys.ts';
import { clientEvents } from './client-events.ts';
import { found, refuseUnsupported } from './parse.ts';
import type { PublicApi } from './public-api.ts';
import type { OpenStreams } from './stream/open-streams.ts';

export async function sendEvents(
  { events }: SendEventsBody,
  sessionId: SessionId,
  { identity, mark }: { identity: Identity; mark: IdempotencyMark | null },
  { api, streams }: { api: PublicApi; streams: OpenStreams },
): Promise<SessionEvent[]> {
  refuseUnsupported(unsupportedInEvents(events));
  if (events.at(-1)?.type === 'system.message') await refuseUnsupportedSystem(sessionId, identity, api);
  const { workspaceId, apiKeyId } = identity;
  const done = doneOrRefuse(
    await api.sessions.execute({
      type: 'send-events',
      workspaceId,
      idempotency: mark,
      sessionId,
      events: clientEvents(events),
    }),
  );
  const isNew = !done.repeated && done.lastSeq >= done.firstSeq;
  if (isNew) await streams.noteClientEvents({ sessionId, apiKeyId }, done.firstSeq);
  return api.sessions.eventsOf(sessionId, done.firstSeq, done.lastSeq);
}

/** Rare, so only then is the session read for its model. */
async function refuseUnsupportedSystem(sessionId: SessionId, { workspaceId }: Identity, api: PublicApi): Promise<void> {
  const session = found(await api.sessions.session(workspaceId, sessionId), 'session');
  const model = session.agent.model.id;
  if (api.options.models.supportsMidConversationSystem(model)) return;
  const message = `system.message: the model ${model} does not support system messages within a conversation`;
  throw new ApiError('model_does_not_support_mid_conversation_system', message);
}
