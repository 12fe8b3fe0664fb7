/**
 * Carries out commands: one at a time per stream and in order, decided beside the state, so that conflicts arise only with
 * holders and other replicas; then it decides again on the new head.
 *
 * L11. A refusal, and the answer that there was nothing to do, stand behind the barrier: whoever is refused was decided on
 *      everything durable when the command came in.
 */
import { checkRepetition, type Repetition } from '@manyhands/core';
import { SessionLogError, type CommandOutcome } from '@manyhands/ports';
import {
  sessionStream,
  workspaceStream,
  type Command,
  type Epoch,
  type RecordDraft,
  type Seq,
  type StreamId,
} from '@manyhands/protocol';
import type { StreamRow } from '../copy/stream-rows.ts';
import type { Appender } from '../write/appender.ts';
import { Lanes } from '../write/lanes.ts';
import { CommitTooLarge } from '../write/seal-commit.ts';
import { changeAgent } from './change-agent.ts';
import { changeEnvironment } from './change-environment.ts';
import { changeSession, deleteBroken } from './change-session.ts';
import type { CommandDecision, CommandDeps } from './command-deps.ts';
import { createSession } from './create-session.ts';

/** A session that writes faster than a command can decide so often is not going to let it in. */
const maxConflicts = 50;
/** Commands that may wait for one stream. */
const maxWaitingCommands = 1_000;

export interface CommandRunnerOptions extends CommandDeps {
  appender: Appender;
  passBarrier: (streamId: StreamId) => Promise<void>;
}

type Attempt = CommandOutcome | 'conflict' | 'behind-barrier';

export class CommandRunner {
  readonly #options: CommandRunnerOptions;
  readonly #lanes = new Lanes<StreamId>(maxWaitingCommands);

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  execute(command: Command): Promise<CommandOutcome> {
    const streamId = streamOf(command);
    const outcome = this.#lanes.run(streamId, () => this.#execute(command, streamId));
    return outcome ?? Promise.reject(new SessionLogError('unavailable', `too many commands wait for ${streamId}`));
  }

  async #execute(command: Command, streamId: StreamId): Promise<CommandOutcome> {
    let isBehindBarrier = false;
    for (let conflicts = 0; conflicts < maxConflicts;) {
      const attempt = await this.#attempt(command, streamId, isBehindBarrier);
      if (attempt === 'conflict') conflicts++;
      else if (attempt === 'behind-barrier') {
        await this.#options.passBarrier(streamId);
        isBehindBarrier = true;
      } else return attempt;
    }
    throw new SessionLogError('unavailable', `${streamId} is written to faster than a command can be decided`);
  }

  async #attempt(command: Command, streamId: StreamId, isBehindBarrier: boolean): Promise<Attempt> {
    const broken = command.type === 'delete-session' ? deleteBroken(command, this.#options) : null;
    if (broken) return this.#append(command, streamId, broken.row, broken.records);
    const { row, repetition } = this.#look(command, streamId);
    if (repetition.kind === 'repeated') {
      return { kind: 'done', firstSeq: repetition.firstSeq, lastSeq: repetition.lastSeq, repeated: true };
    }
    const decision = repetition.kind === 'refuse' ? repetition : await this.#decide(command);
    if (decision.kind === 'refuse')
      return isBehindBarrier ? { kind: 'refused', refusal: decision.refusal } : 'behind-barrier';
    const headSeq = row?.seq ?? (0 as Seq);
    if (decision.records.length === 0) {
      if (!isBehindBarrier) return 'behind-barrier';
      return { kind: 'done', firstSeq: (headSeq + 1) as Seq, lastSeq: headSeq, repeated: false };
    }
    return this.#append(command, streamId, row, decision.records);
  }

  /** The head that the decision stands on, taken before anything is awaited. */
  #look(command: Command, streamId: StreamId): { row: StreamRow | null; repetition: Repetition } {
    const { states, copy, now } = this.#options;
    const row = states.row(streamId);
    const { idempotency } = command;
    const remembered = row && idempotency ? copy.idempotency.get(row.id, idempotency.key) : null;
    const repetition = checkRepetition(idempotency, remembered, command.type.startsWith('create-'), now());
    return { row: row && { ...row }, repetition };
  }

  #decide(command: Command): Promise<CommandDecision> {
    switch (command.type) {
      case 'create-session':
        return createSession(command, this.#options);
      case 'update-session':
      case 'send-events':
      case 'archive-session':
      case 'delete-session':
        return changeSession(command, this.#options);
      case 'create-agent':
      case 'update-agent':
      case 'archive-agent':
        return changeAgent(command, this.#options);
      case 'create-environment':
      case 'update-environment':
      case 'archive-environment':
      case 'delete-environment':
        return changeEnvironment(command, this.#options);
    }
  }

  async #append(
    command: Command,
    streamId: StreamId,
    row: StreamRow | null,
    drafts: readonly RecordDraft[],
  ): Promise<Attempt> {
    const [first, ...rest] = drafts as readonly [RecordDraft, ...RecordDraft[]];
    const records = [command.idempotency ? { ...first, idempotency: command.idempotency } : first, ...rest];
    try {
      const result = await this.#options.appender.append({
        streamId,
        workspaceId: command.workspaceId,
        epoch: row?.epoch ?? (0 as Epoch),
        expectedSeq: row?.seq ?? (0 as Seq),
        records,
      });
      if (result.kind === 'conflict') return 'conflict';
      return { kind: 'done', firstSeq: result.firstSeq, lastSeq: result.lastSeq, repeated: false };
    } catch (cause) {
      if (!(cause instanceof CommitTooLarge)) throw cause;
      return {
        kind: 'refused',
        refusal: { code: 'invalid_request', message: `The request is too large: ${cause.message}.` },
      };
    }
  }
}

function streamOf(command: Command): StreamId {
  return 'sessionId' in command ? sessionStream(command.sessionId) : workspaceStream(command.workspaceId);
}
