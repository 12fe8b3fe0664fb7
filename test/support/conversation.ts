/** One session as a test drives it, with a recorder on its stream from the first event on. */
import type Anthropic from '@anthropic-ai/sdk';
import { script, type ScriptTurnInput } from '@manyhands/adapter-scripted-model';
import { historyFaults, streamFaults } from './history-checker.ts';
import { StreamRecorder, type EventOf, type SessionEvent } from './stream-recorder.ts';

export type EventParams = Anthropic.Beta.Sessions.BetaManagedAgentsEventParams;
type IdleEvent = EventOf<'session.status_idle'>;

export function message(text: string): EventParams {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}

/** A turn of the model that does not come the first time, and is only ended by an interrupt; asked again, it answers. */
export function hangingTurn(text: string, afterEvents = 0): ScriptTurnInput {
  return { blocks: [{ text }], faults: [{ kind: 'silence', afterEvents }] };
}

export class Conversation {
  readonly client: Anthropic;
  readonly id: string;
  /** null where a second stream of the same key would change what is tested. */
  recorder: StreamRecorder | null;

  private constructor(client: Anthropic, id: string, recorder: StreamRecorder | null) {
    this.client = client;
    this.id = id;
    this.recorder = recorder;
  }

  static async open(client: Anthropic, id: string, { record = true } = {}): Promise<Conversation> {
    return new Conversation(client, id, record ? await StreamRecorder.open(client, id) : null);
  }

  get stream(): StreamRecorder {
    if (!this.recorder) throw new Error('this conversation is not recorded');
    return this.recorder;
  }

  async send(...events: EventParams[]): Promise<SessionEvent[]> {
    const sent = await this.client.beta.sessions.events.send(this.id, { events });
    return sent.data as SessionEvent[];
  }

  async say(text: string): Promise<SessionEvent[]> {
    return this.send(message(text));
  }

  /** Sends a message that scripts the model's answers. */
  async start(turns: readonly ScriptTurnInput[], id?: string): Promise<SessionEvent[]> {
    return this.say(script(turns, id));
  }

  /** Starts and waits for the next idle of the session, whatever its stop reason. */
  async play(turns: readonly ScriptTurnInput[], id?: string): Promise<IdleEvent> {
    return this.untilIdle(() => this.start(turns, id));
  }

  /** The first idle that follows an act. */
  async untilIdle(act: () => Promise<unknown>): Promise<IdleEvent> {
    const from = this.stream.events.length;
    await act();
    return this.stream.findType('session.status_idle', from);
  }

  async session(): Promise<Anthropic.Beta.Sessions.BetaManagedAgentsSession> {
    return this.client.beta.sessions.retrieve(this.id);
  }

  /** The whole history, oldest first, page by page. */
  async history(): Promise<SessionEvent[]> {
    return listAll(this.client, this.id);
  }

  async ofType<T extends SessionEvent['type']>(type: T): Promise<Extract<SessionEvent, { type: T }>[]> {
    const history = await this.history();
    return history.filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type);
  }

  /** The text of each answer of the agent. */
  async answers(): Promise<string[]> {
    return (await this.ofType('agent.message')).map(textOf);
  }

  /** What is wrong with the history and with what the stream said of it; empty when all is well. */
  async faults(): Promise<string[]> {
    const history = await this.history();
    const faults = historyFaults(history);
    const last = history.findLast((event) => event.processed_at != null);
    if (!this.recorder || !last) return faults;
    await this.recorder.find((event) => 'id' in event && event.id === last.id && event.processed_at != null);
    return [...faults, ...streamFaults(history, this.recorder.events)];
  }

  /** Before the server is stopped, which ends every stream. */
  async stopRecording(): Promise<void> {
    await this.recorder?.close();
    this.recorder = null;
  }
}

export async function listAll(client: Anthropic, sessionId: string, limit = 1000): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of client.beta.sessions.events.list(sessionId, { limit })) events.push(event);
  return events;
}

/** The text blocks of an event, joined. */
export function textOf(event: { content?: unknown[] | null }): string {
  const blocks = (event.content ?? []) as { type: string; text?: string }[];
  return blocks.map((block) => block.text ?? '').join('');
}
