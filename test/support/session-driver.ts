/**
 * Plays rounds on one session as its client would, across restarts of the server: sends, interrupts, answers what the
 * session asks for, and keeps what the server acknowledged.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type Anthropic from '@anthropic-ai/sdk';
import { BadRequestError } from '@anthropic-ai/sdk';
import { script } from '@manyhands/adapter-scripted-model';
import { message, textOf, type EventParams } from './conversation.ts';
import { EventFollower } from './event-follower.ts';
import { answerTo, lastWords, type PlannedCall, type Round } from './rounds.ts';
import type { ServerProcess } from './server-process.ts';
import type { SteadyClient } from './steady-client.ts';
import type { SessionEvent } from './stream-recorder.ts';

const busyPauseMs = 100;

export class SessionDriver {
  readonly id: string;
  readonly follower: EventFollower;
  readonly rounds: Round[] = [];
  /** What the answers to our requests held. */
  readonly acknowledged: SessionEvent[] = [];
  /** Calls whose answer was refused because an interrupt had come first. */
  readonly overtaken: string[] = [];
  readonly #client: SteadyClient;
  #interrupts = 0;
  #answers: Promise<void>[] = [];

  constructor(server: ServerProcess, client: SteadyClient, sessionId: string) {
    this.id = sessionId;
    this.#client = client;
    this.follower = new EventFollower(server, sessionId);
    void this.#answerCalls();
  }

  static async open(
    server: ServerProcess,
    client: SteadyClient,
    params: Anthropic.Beta.Sessions.SessionCreateParams,
  ): Promise<SessionDriver> {
    const session = await client.write((api, options) => api.beta.sessions.create(params, options));
    return new SessionDriver(server, client, session.id);
  }

  /** The last round has to be one that is waited for. */
  async play(rounds: readonly Round[]): Promise<void> {
    for (const round of rounds) {
      this.rounds.push(round);
      const from = this.follower.deliveries.length;
      const [sent] = await this.send(message(script(round.turns, round.id)));
      if (round.end === 'wait') await this.#untilItsEnd(round, sent?.id, from);
      else await sleep(round.afterMs);
      if (round.end === 'interrupt') await this.#interrupt();
    }
    await Promise.all(this.#answers);
  }

  async send(event: EventParams): Promise<SessionEvent[]> {
    for (;;) {
      try {
        const sent = await this.#client.write((api, options) =>
          api.beta.sessions.events.send(this.id, { events: [event] }, options),
        );
        const events = sent.data as SessionEvent[];
        this.acknowledged.push(...events);
        return events;
      } catch (error) {
        // A script that an interrupt met before its first answer goes on beside the next one, and may ask something.
        if (!isRefusal(error, 'waits for an action')) throw error;
        await sleep(busyPauseMs);
      }
    }
  }

  planned(mark: unknown): PlannedCall | undefined {
    return this.rounds.flatMap((round) => round.calls).find((call) => call.mark === mark);
  }

  /**
   * Scripts that the model got before it answered any of them are played one after the other, and each one's last answer
   * ends the turn: then the model has to be asked for the next.
   */
  async #untilItsEnd(round: Round, messageId: string | undefined, from: number): Promise<void> {
    let taken = false;
    let said = false;
    for (let next = from; !said;) {
      await this.follower.find(
        `end of ${round.id}`,
        (event) => {
          next++;
          taken ||= event.id === messageId && event.processed_at != null;
          said ||= event.type === 'agent.message' && textOf(event) === lastWords(round);
          return taken && event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn';
        },
        next,
      );
      if (!said) await this.send(message('Go on.'));
    }
  }

  async #interrupt(): Promise<void> {
    this.#interrupts++;
    const [sent] = await this.send({ type: 'user.interrupt' });
    await this.follower.find('interrupt', (event) => event.id === sent?.id && event.processed_at != null);
  }

  /** Every call that waits for the client is answered once, when it is seen. */
  async #answerCalls(): Promise<void> {
    for (let next = 0; !this.follower.isClosed;) {
      const event = this.follower.deliveries[next]?.event;
      if (!event) {
        await this.follower.change(performance.now() + 10_000);
        continue;
      }
      next++;
      const answer = this.#answerFor(event);
      if (answer) this.#answers.push(this.#giveAnswer(event.id, answer));
    }
  }

  #answerFor(event: SessionEvent): EventParams | null {
    if (event.type === 'agent.custom_tool_use') {
      const text = answerTo(String(event.input['mark']));
      return { type: 'user.custom_tool_result', custom_tool_use_id: event.id, content: [{ type: 'text', text }] };
    }
    if (event.type !== 'agent.tool_use' || event.evaluated_permission !== 'ask') return null;
    const result = this.planned(event.input['mark'])?.confirm ?? 'deny';
    return { type: 'user.tool_confirmation', tool_use_id: event.id, result };
  }

  async #giveAnswer(callId: string, answer: EventParams): Promise<void> {
    try {
      await this.send(answer);
    } catch (error) {
      if (this.#interrupts === 0 || !isRefusal(error, 'No open tool call')) throw error;
      this.overtaken.push(callId);
    }
  }
}

function isRefusal(error: unknown, text: string): boolean {
  return error instanceof BadRequestError && error.message.includes(text);
}
