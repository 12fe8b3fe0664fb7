/**
 * A session told step by step through the core's own functions: each step folds what it writes, and `news` says in words
 * what the last step wrote.
 */
import type {
  ClientEvent,
  CreateSession,
  EventId,
  Incarnation,
  Instant,
  ModelBlock,
  ModelStopReason,
  Refusal,
  Seq,
  SessionAgent,
  SessionDraft,
  SessionLogRecord,
  TokenUsage,
  UpdateSession,
} from '@manyhands/protocol';
import { sessionStream } from '@manyhands/protocol';
import type { Outcome } from '../harness/settle.ts';
import type { Step } from '../harness/next-step.ts';
import type { TurnLimits } from '../harness/limits.ts';
import type { Decision, DecideContext } from '../session/decision.ts';
import type { SessionContents } from '../session/decide.ts';
import type { SessionState } from '../session/state.ts';
import { claimRecords } from '../harness/claim-records.ts';
import { nextStep } from '../harness/next-step.ts';
import { settle } from '../harness/settle.ts';
import { classifyCalls } from '../harness/tools.ts';
import { decideArchive, decideCreate, decideDelete, decideSend, decideUpdate } from '../session/decide.ts';
import { evolveSession, turnOf } from '../session/evolve.ts';
import { noTokens } from '../session/usage.ts';
import {
  agentWith,
  environment,
  environmentId,
  limits,
  sessionId,
  startOfTime,
  threadId,
  workspaceId,
} from './fixtures.ts';
import { Names, inWords } from './in-words.ts';

export interface StoryOptions {
  agent?: SessionAgent;
  budgetCents?: number | null;
  initialEvents?: ClientEvent[];
  metadata?: Record<string, string>;
  limits?: Partial<TurnLimits>;
}

export interface Answer {
  stopReason?: ModelStopReason;
  usage?: Partial<TokenUsage>;
  stopDetails?: { category: string | null; explanation: string | null };
}

const command = { workspaceId, sessionId, idempotency: null };

export class Story {
  now: Instant = startOfTime;
  readonly limits: TurnLimits;
  readonly records: SessionLogRecord[] = [];
  /** What the last step wrote, in words. */
  news: string[] = [];
  readonly #names = new Names();
  #contents: SessionContents;
  #state: SessionState | null = null;
  #ids = 0;

  constructor(options: StoryOptions = {}) {
    this.limits = { ...limits, ...options.limits };
    const agent = options.agent ?? agentWith();
    this.#contents = { title: null, metadata: options.metadata ?? {}, agent };
    const create: CreateSession = {
      ...command,
      type: 'create-session',
      ...this.#contents,
      environmentId,
      environment,
      sources: [],
      budgetCents: options.budgetCents ?? null,
      initialEvents: options.initialEvents ?? [],
    };
    const decision = decideCreate(create, threadId, this.context);
    if (decision.kind === 'refuse') throw new Refused(decision.refusal);
    this.#write(decision.records);
  }

  get state(): SessionState {
    if (!this.#state) throw new Error('the session was not created');
    return this.#state;
  }

  get context(): DecideContext {
    return { now: this.now, newId: this.newId };
  }

  readonly newId = (): EventId => `sevt_${++this.#ids}` as EventId;

  /** The event id of the call that the model named so. */
  call(name: string): EventId {
    const call = this.records.findLast(
      (record) =>
        (record.kind === 'agent.tool_use' || record.kind === 'agent.custom_tool_use') && record.facets.callId === name,
    );
    if (!call) throw new Error(`no call ${name}`);
    return call.id;
  }

  /** Everything written so far, in words. */
  get told(): string[] {
    return this.records.map((record) => inWords(record, this.#names));
  }

  passes(ms: number): this {
    this.now = (this.now + ms) as Instant;
    return this;
  }

  sends(...events: ClientEvent[]): this {
    return this.#carryOut(this.decidesOn(...events));
  }

  decidesOn(...events: ClientEvent[]): Decision {
    return decideSend(this.state, { ...command, type: 'send-events', events }, this.context);
  }

  updates(change: Omit<UpdateSession, 'type' | keyof typeof command>): this {
    const decision = this.decidesUpdate(change);
    this.#carryOut(decision);
    if (change.title !== undefined) this.#contents = { ...this.#contents, title: change.title };
    return this;
  }

  decidesUpdate(change: Omit<UpdateSession, 'type' | keyof typeof command>): Decision {
    const update: UpdateSession = { ...command, type: 'update-session', ...change };
    return decideUpdate(this.state, update, this.#contents, this.context);
  }

  archives(): this {
    return this.#carryOut(this.decidesArchive());
  }

  decidesArchive(): Decision {
    return decideArchive(this.state, { ...command, type: 'archive-session' }, this.context);
  }

  deletes(): this {
    return this.#carryOut(this.decidesDelete());
  }

  decidesDelete(): Decision {
    return decideDelete(this.state, { ...command, type: 'delete-session' }, this.context);
  }

  claims(worker = 'w1'): this {
    const plan = claimRecords(this.state, worker as Incarnation, this.limits, this.now, this.newId);
    return this.#write(plan.records);
  }

  /** What the holder would do now. */
  get step(): Step {
    return nextStep(this.state, this.limits, this.now, this.newId);
  }

  /** The holder appends what the log lacks, as after folding the records of others. */
  advances(): this {
    const { step } = this;
    return this.#write(step.kind === 'append' ? step.records : []);
  }

  settles(outcome: Outcome): this {
    return this.#write(settle(this.state, outcome, this.limits, this.now, this.newId).records);
  }

  responds(blocks: ModelBlock[], answer: Answer = {}): this {
    return this.settles(this.response(blocks, answer));
  }

  /** The outcome of the open model request; `tool_use` is its reason to stop if it has calls. */
  response(blocks: ModelBlock[], answer: Answer = {}): Outcome {
    const hasCalls = blocks.some((block) => block.type === 'tool_use');
    return {
      type: 'responded',
      startId: this.#openRequest(),
      blocks,
      stopReason: answer.stopReason ?? (hasCalls ? 'tool_use' : 'end_turn'),
      stopDetails: answer.stopDetails ?? null,
      usage: { ...noTokens, inputTokens: 10, outputTokens: 5, ...answer.usage },
      eventIds: new Map(),
      calls: classifyCalls(blocks, this.#contents.agent, { webSearch: false }),
    };
  }

  says(text: string, answer: Answer = {}): this {
    return this.responds([textBlock(text)], answer);
  }

  fails(failure: Partial<Outcome & { type: 'model-failed' }> = {}): this {
    return this.settles(this.failure(failure));
  }

  failure(failure: Partial<Outcome & { type: 'model-failed' }> = {}): Outcome {
    return {
      type: 'model-failed',
      startId: this.#openRequest(),
      retriable: true,
      tooLong: false,
      errorType: 'model_overloaded_error',
      message: 'overloaded',
      usage: noTokens,
      retryAt: (this.now + 1_000) as Instant,
      ...failure,
    };
  }

  compacts(summary: string): this {
    return this.settles({ type: 'compacted', startId: this.#openRequest(), summary, usage: noTokens });
  }

  answers(name: string, text = 'ok', generation: number | null = null): this {
    return this.settles(this.answer(name, text, generation));
  }

  answer(name: string, text = 'ok', generation: number | null = null): Outcome {
    const content = [{ type: 'text' as const, text }];
    const hand = generation === null ? null : { hand: 'main', generation };
    return { type: 'tool-answered', toolUseId: this.call(name), isError: false, content, chars: text.length, hand };
  }

  losesHand(name: string, generation: number, started: boolean): this {
    return this.settles({ type: 'hand-lost', toolUseId: this.call(name), started, hand: 'main', generation });
  }

  #openRequest(): EventId {
    const request = turnOf(this.state.phase)?.request;
    if (!request) throw new Error('no model request is open');
    return request.startId;
  }

  #carryOut(decision: Decision): this {
    if (decision.kind === 'refuse') throw new Refused(decision.refusal);
    return this.#write(decision.records);
  }

  #write(drafts: readonly SessionDraft[]): this {
    const written = drafts.map((draft) => {
      const record = {
        threadId: null,
        ...draft,
        seq: ((this.#state?.seq ?? 0) + 1) as Seq,
        time: this.now,
        streamId: sessionStream(sessionId),
      } as unknown as SessionLogRecord;
      this.#state = evolveSession(this.#state, record);
      this.#names.learn(record);
      return record;
    });
    this.records.push(...written);
    this.news = written.map((record) => inWords(record, this.#names));
    return this;
  }
}

export class Refused extends Error {
  readonly code: Refusal['code'];
  constructor(refusal: Refusal) {
    super(`${refusal.code}: ${refusal.message}`);
    this.name = 'Refused';
    this.code = refusal.code;
  }
}

export function textBlock(text: string): ModelBlock {
  return { type: 'text', text };
}

export function use(id: string, name: string, input: Record<string, unknown> = {}): ModelBlock {
  return { type: 'tool_use', id, name, input };
}
