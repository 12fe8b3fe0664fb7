/** An update of a session as the log's command takes it. */
import {
  updateSessionAgent,
  type IdempotencyMark,
  type SessionId,
  type UpdateSession,
  type UpdateSessionBody,
} from '@manyhands/protocol';

import { refuse } from './api-error.ts';
import type { Identity } from './api-keys.ts';
import { withAvailableTools } from './client-events.ts';
import { found } from './parse.ts';
import type { PublicApi } from './public-api.ts';

export async function updateSessionCommand(
  body: UpdateSessionBody,
  sessionId: SessionId,
  { identity, mark }: { identity: Identity; mark: IdempotencyMark | null },
  api: PublicApi,
): Promise<UpdateSession> {
  return {
    type: 'update-session',
    workspaceId: identity.workspaceId,
    idempotency: mark,
    sessionId,
    ...(body.title !== undefined && { title: body.title }),
    ...(body.metadata != null && { metadata: body.metadata }),
    ...(body.budget !== undefined && {
      budgetCents: body.budget === null ? null : Number(body.budget.max_list_cost.amount),
    }),
    ...(body.agent !== undefined && { agent: await agentUpdate(body.agent, sessionId, identity, api) }),
  };
}

/** The rules between tools and servers hold for the result, so the session's own agent is read. */
async function agentUpdate(
  update: NonNullable<UpdateSessionBody['agent']>,
  sessionId: SessionId,
  { workspaceId }: Identity,
  api: PublicApi,
): Promise<UpdateSession['agent']> {
  const session = found(await api.sessions.session(workspaceId, sessionId), 'session');
  const updated = updateSessionAgent(session.agent, withAvailableTools(update, api.options.hasWebSearch));
  if (!updated.ok) return refuse(updated.refusal);
  return {
    ...(update.tools !== undefined && { tools: updated.value.tools }),
    ...(update.mcp_servers !== undefined && { mcpServers: updated.value.mcp_servers }),
  };
}
