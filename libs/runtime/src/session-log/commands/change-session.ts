/** Commands to a session that exists. */
import { decideArchive, decideDelete, decideSend, decideUpdate } from '@manyhands/core';
import { sessionStream } from '@manyhands/protocol';
import type { ArchiveSession, DeleteSession, SendEvents, UpdateSession } from '@manyhands/protocol';
import { notFound, type CommandDecision, type CommandDeps } from './command-deps.ts';

export type SessionChange = UpdateSession | SendEvents | ArchiveSession | DeleteSession;

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
