/** Commands to a session that exists. */
import { decideArchive, decideDelete, decideSend, decideUpdate } from '@manyhands/core';
import { sessionStream } from '@manyhands/protocol';
import type { ArchiveSession, DeleteSession, RecordDraft, SendEvents, UpdateSession } from '@manyhands/protocol';
import type { StreamRow } from '../copy/stream-rows.ts';
import { notFound, type CommandDecision, type CommandDeps } from './command-deps.ts';

export type SessionChange = UpdateSession | SendEvents | ArchiveSession | DeleteSession;

/** A session that nobody can fold any more must still be erasable (L12): its deletion stands on its head alone. */
export function deleteBroken(
  command: DeleteSession,
  deps: CommandDeps,
): { row: StreamRow; records: RecordDraft[] } | null {
  const row = deps.states.broken(sessionStream(command.sessionId));
  if (row?.workspaceId !== command.workspaceId) return null;
  return { row, records: [{ kind: 'session.deleted', id: deps.newId(), facets: {}, payload: null }] };
}

export async function changeSession(command: SessionChange, deps: CommandDeps): Promise<CommandDecision> {
  const session = deps.states.session(sessionStream(command.sessionId));
  if (!session || session.state.workspaceId !== command.workspaceId) return notFound('session');
  const { row, state } = session;
  const context = { now: deps.now(), newId: deps.newId };
  switch (command.type) {
    case 'send-events':
      return decideSend(state, command, context);
    case 'update-session':
      return decideUpdate(state, command, await deps.contentsOf(row, state), context);
    case 'archive-session':
      return decideArchive(state, command, context);
    case 'delete-session':
      return decideDelete(state, command, context);
  }
}
