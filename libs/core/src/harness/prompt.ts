/**
 * The context policy: from a slice of the log to the messages of a prompt. The same records give the same bytes, so that
 * the provider's prompt cache stays warm from one request to the next.
 *
 * - Whole: everything since the last summary, word for word.
 * - Trimmed: results of tools before a seq are shortened to their beginning.
 * - Compacted: a summary stands for everything up to a seq.
 *
 * Every `tool_use` gets its `tool_result`, in the order of the calls, whoever finished first; a call that the log never
 * answered gets an error, since the provider refuses a dangling one.
 */
import type {
  EventId,
  LogRecord,
  MessageContent,
  ModelBlock,
  RecordKind,
  Seq,
  ToolResultContent,
} from '@manyhands/protocol';
import { resultText } from '../session/result-text.ts';

export interface PromptMessage {
  role: 'user' | 'assistant' | 'system';
  content: ModelBlock[];
}

export interface ContextPolicy {
  /** The kinds of records that `messages` wants to see. */
  readonly kinds: readonly RecordKind[];
  messages(records: readonly LogRecord[], view: ContextView): PromptMessage[];
}

export interface ContextView {
  trimmedThrough: Seq;
  /** Whether the model takes system messages between others; else they are shown as the user's. */
  midConversationSystem: boolean;
}

/** Characters that a trimmed result keeps. */
const trimmedChars = 500;

export const logContextPolicy: ContextPolicy = {
  kinds: [
    'user.message',
    'system.message',
    'input.taken',
    'model.response',
    'agent.tool_use',
    'agent.custom_tool_use',
    'agent.tool_result',
    'user.custom_tool_result',
    'user.tool_confirmation',
    'context.compacted',
  ],
  messages: (records, view) => new PromptBuilder(records, view).build(),
};

interface Answer {
  isError: boolean;
  content: ModelBlock[];
}

class PromptBuilder {
  readonly #messages: PromptMessage[] = [];
  readonly #records: readonly LogRecord[];
  readonly #view: ContextView;
  readonly #bySeq = new Map<Seq, LogRecord>();
  readonly #answers = new Map<EventId, Answer>();
  /** Model call ids of the last response, and the event that answers each. */
  #openCalls: { callId: string; eventId: EventId | null }[] = [];

  constructor(records: readonly LogRecord[], view: ContextView) {
    this.#records = records;
    this.#view = view;
    for (const record of records) {
      this.#bySeq.set(record.seq, record);
      this.#readAnswer(record);
    }
  }

  build(): PromptMessage[] {
    const events = callEvents(this.#records);
    for (const record of this.#records) {
      if (record.kind === 'context.compacted') this.#startFromSummary(record);
      else if (record.kind === 'input.taken') this.#take(record.facets.seqs);
      else if (record.kind === 'model.response') this.#respond(record, events);
    }
    this.#answerCalls();
    return this.#messages;
  }

  #startFromSummary(record: LogRecord<'context.compacted'>): void {
    this.#messages.length = 0;
    this.#openCalls = [];
    const text = `This conversation was shortened. A summary of everything so far:\n\n${record.payload.summary}`;
    this.#say('user', [{ type: 'text', text }]);
  }

  #take(seqs: readonly Seq[]): void {
    this.#answerCalls();
    for (const seq of seqs) {
      const input = this.#bySeq.get(seq);
      if (input?.kind === 'user.message') this.#say('user', input.payload.content.map(userBlock));
      else if (input?.kind === 'system.message') {
        this.#say(
          this.#view.midConversationSystem ? 'system' : 'user',
          input.payload.content.map((block) => ({ ...block })),
        );
      }
    }
  }

  #respond(record: LogRecord<'model.response'>, events: ReadonlyMap<string, EventId>): void {
    this.#answerCalls();
    const { blocks } = record.payload;
    const shown = blocks.filter((block) => block.type !== 'text' || block.text !== '');
    if (shown.length > 0) this.#say('assistant', shown);
    this.#openCalls = shown.filter(isToolUse).map((block) => {
      const callId = String(block.id);
      return { callId, eventId: events.get(`${record.seq}/${callId}`) ?? null };
    });
  }

  #answerCalls(): void {
    if (this.#openCalls.length === 0) return;
    const results = this.#openCalls.map(({ callId, eventId }): ModelBlock => {
      const answer = (eventId && this.#answers.get(eventId)) ?? unanswered;
      const base = { type: 'tool_result', tool_use_id: callId, content: answer.content };
      return answer.isError ? { ...base, is_error: true } : base;
    });
    this.#openCalls = [];
    this.#say('user', results);
  }

  /** Neighbours of one role become one message: a provider wants roles to alternate. */
  #say(role: PromptMessage['role'], content: ModelBlock[]): void {
    const last = this.#messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else this.#messages.push({ role, content: [...content] });
  }

  #readAnswer(record: LogRecord): void {
    if (record.kind === 'agent.tool_result' || record.kind === 'user.custom_tool_result') {
      const content = record.facets.cause
        ? [{ type: 'text', text: resultText(record.facets.cause, this.#denial(record)) }]
        : (record.payload?.content ?? []).map(resultBlock);
      const trimmed = record.seq < this.#view.trimmedThrough ? trim(content) : content;
      this.#answers.set(record.facets.toolUseId, { isError: record.facets.isError ?? false, content: trimmed });
    }
  }

  #denial(record: LogRecord<'agent.tool_result' | 'user.custom_tool_result'>): string | null {
    if (record.kind !== 'agent.tool_result' || record.facets.confirmationSeq === undefined) return null;
    const confirmation = this.#bySeq.get(record.facets.confirmationSeq);
    return confirmation?.kind === 'user.tool_confirmation' ? (confirmation.payload?.denyMessage ?? null) : null;
  }
}

const unanswered: Answer = { isError: true, content: [{ type: 'text', text: 'The call has no result.' }] };

function isToolUse(block: ModelBlock): boolean {
  return block.type === 'tool_use';
}

/** Which event stands for a call of a response: `{responseSeq}/{callId}` → event id. */
function callEvents(records: readonly LogRecord[]): Map<string, EventId> {
  const events = new Map<string, EventId>();
  for (const record of records) {
    if (record.kind === 'agent.tool_use' || record.kind === 'agent.custom_tool_use') {
      events.set(`${record.facets.responseSeq}/${record.facets.callId}`, record.id);
    }
  }
  return events;
}

function userBlock(block: MessageContent): ModelBlock {
  return { ...block };
}

function resultBlock(block: ToolResultContent): ModelBlock {
  return { ...block };
}

function trim(content: ModelBlock[]): ModelBlock[] {
  return content.map((block) => {
    if (block.type !== 'text') return { type: 'text', text: `[${block.type} left out to save room]` };
    const text = String(block.text);
    if (text.length <= trimmedChars) return block;
    return {
      type: 'text',
      text: `${text.slice(0, trimmedChars)}\n[shortened to save room: ${text.length} characters in all]`,
    };
  });
}
