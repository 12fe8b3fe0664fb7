/**
 * The user of one session: plays its wishes against any node, repeats what got no answer under the same key, answers what
 * the session waits for, and remembers what was accepted.
 */
import type { CommandOutcome } from '@manyhands/ports';
import { SessionLogError } from '@manyhands/ports';
import { createSessionCommand, sessionAgent } from '@manyhands/ports/testing';
import { builtinToolNames, formatId } from '@manyhands/protocol';
import type {
  BuiltinToolConfig,
  ClientEvent,
  Command,
  EventId,
  Refusal,
  Seq,
  Session,
  SessionEvent,
  SessionId,
  WorkspaceId,
} from '@manyhands/protocol';
import type { Chance } from './chance.ts';
import type { SimNode } from './node.ts';
import type { Script } from './script.ts';
import { anyScript, scriptText } from './script.ts';
import { must } from './violations.ts';
import type { World } from './world.ts';

export const workspaceId = 'wrkspc_01simulation' as WorkspaceId;

/** Events of a request that was answered with success. */
export interface Accepted {
  firstSeq: Seq;
  lastSeq: Seq;
  kinds: ClientEvent['type'][];
  /** The script that its message carries. */
  script: Script | null;
}

export class Client {
  readonly sessionId: SessionId;
  readonly accepted: Accepted[] = [];
  /** Messages that were refused, by the name of their script. */
  readonly refused: string[] = [];
  /** Requests without a key that got no answer: nobody knows whether they were carried out. */
  readonly uncertain: ClientEvent['type'][][] = [];
  end: 'left' | 'archived' | 'deleted' = 'left';
  isDone = false;
  readonly #world: World;
  readonly #chance: Chance;
  #wishes = 0;
  #messages = 0;
  #isCreated = false;

  constructor(world: World, chance: Chance) {
    this.#world = world;
    this.#chance = chance;
    this.sessionId = formatId('session', chance.bytes(16));
  }

  async play(): Promise<void> {
    await this.#create();
    const wishes = this.#chance.between(1, 5);
    for (let wish = 0; wish < wishes; wish++) {
      await this.#pause(this.#chance.happens(0.5) ? 20 : 1_500);
      await this.#wish();
      if (this.#chance.happens(0.5)) await this.#untilIdle();
    }
    await this.#untilIdle();
    await this.#leave();
    this.isDone = true;
  }

  async #create(): Promise<void> {
    const initial = this.#chance.happens(0.3) ? this.#message() : null;
    const create = createSessionCommand(workspaceId, {
      sessionId: this.sessionId,
      agent: { ...sessionAgent(formatId('agent', this.#chance.bytes(16))), tools: agentTools },
      environmentId: formatId('environment', this.#chance.bytes(16)),
      initialEvents: initial ? initial.events : [],
    });
    const done = await this.#carryOut(create);
    must(done.kind === 'done', `a create was refused: ${refusalOf(done)}`);
    this.#isCreated = true;
    this.#remember(done, initial?.events ?? [], initial?.script ?? null);
  }

  async #wish(): Promise<void> {
    const kind = this.#chance.number();
    const { script, events } = this.#message();
    if (kind < 0.5) await this.#send(events, script);
    else if (kind < 0.6) await this.#send([...events, systemMessage(script.name)], script);
    else if (kind < 0.8) await this.#send([interrupt], null);
    else if (kind < 0.95) await this.#send([interrupt, ...events], script);
    else
      await this.#carryOut({
        type: 'update-session',
        workspaceId,
        sessionId: this.sessionId,
        idempotency: null,
        title: script.name,
      });
  }

  #message(): { script: Script; events: ClientEvent[] } {
    const script = anyScript(`${this.sessionId.slice(-4)}.${this.#messages++}`, this.#chance);
    return { script, events: [{ type: 'user.message', content: [{ type: 'text', text: scriptText(script) }] }] };
  }

  async #send(events: ClientEvent[], script: Script | null): Promise<void> {
    const send: Command = {
      type: 'send-events',
      workspaceId,
      sessionId: this.sessionId,
      idempotency: null,
      events,
    };
    const outcome = this.#chance.happens(0.4) ? await this.#tryOnce(send) : await this.#carryOut(send);
    if (!outcome) this.uncertain.push(events.map((event) => event.type));
    else if (outcome.kind === 'done') this.#remember(outcome, events, script);
    else {
      must(outcome.refusal.code !== 'not_found', `${this.sessionId} exists and was not found (L11)`);
      if (script) this.refused.push(script.name);
    }
  }

  #remember(outcome: CommandOutcome & { kind: 'done' }, events: readonly ClientEvent[], script: Script | null): void {
    const { firstSeq, lastSeq } = outcome;
    if (events.length > 0) this.accepted.push({ firstSeq, lastSeq, kinds: events.map((event) => event.type), script });
  }

  /** Asks, and asks again under the same key until there is an answer. */
  async #carryOut(wish: Command): Promise<CommandOutcome> {
    const key = `${this.sessionId}/${this.#wishes++}`;
    const command = { ...wish, idempotency: { key, body: key } };
    for (;;) {
      const node = this.#anyNode();
      const outcome = node && (await this.#ask(node, () => node.service.execute(command)));
      if (outcome) return outcome;
      await this.#pause(300);
    }
  }

  /** As clients do that send no key: what got no answer is not asked again, lest it be done twice. */
  async #tryOnce(command: Command): Promise<CommandOutcome | null> {
    const node = this.#anyNode();
    if (!node) return this.#carryOut(command);
    return this.#ask(node, () => node.service.execute(command));
  }

  /** null when there was no answer. */
  async #ask<T>(node: SimNode, ask: () => Promise<T>): Promise<T | null> {
    const late = this.#world.scheduler.pause(70_000).then(() => null);
    const asked = node.process
      .gate()
      .then(ask)
      .catch((error: unknown) => {
        if (error instanceof SessionLogError && error.code === 'unavailable') return null;
        throw error;
      });
    return Promise.race([asked, late, node.process.died.then(() => null)]);
  }

  /** Answers what the session waits for, until it waits for nothing. */
  async #untilIdle(): Promise<void> {
    for (;;) {
      await this.#pause(400);
      const session = await this.#look();
      if (!session || session.status !== 'idle') continue;
      if (session.stop_reason?.type !== 'requires_action') return;
      await this.#answer(session.stop_reason.event_ids);
    }
  }

  async #answer(ids: readonly string[]): Promise<void> {
    const events = await this.#events();
    if (!events) return;
    const calls = events.filter((event) => ids.includes(event.id));
    const chosen = this.#chance.happens(0.6) ? calls : calls.slice(0, 1);
    const answers = chosen.flatMap((call) => this.#answerTo(call));
    if (answers.length > 0) await this.#send(answers, null);
  }

  #answerTo(call: SessionEvent): ClientEvent[] {
    const toolUseId = call.id as EventId;
    if (call.type === 'agent.custom_tool_use') {
      const content = [{ type: 'text' as const, text: 'so' }];
      return [{ type: 'user.custom_tool_result', toolUseId, isError: undefined, content }];
    }
    const result = this.#chance.happens(0.7) ? 'allow' : 'deny';
    return [{ type: 'user.tool_confirmation', toolUseId, result, denyMessage: null }];
  }

  async #leave(): Promise<void> {
    const kind = this.#chance.number();
    if (kind < 0.5) return;
    const type = kind < 0.75 ? 'archive-session' : 'delete-session';
    for (;;) {
      const outcome = await this.#carryOut({ type, workspaceId, sessionId: this.sessionId, idempotency: null });
      if (outcome.kind === 'done') break;
      // A delete that was carried out by an attempt without an answer leaves nothing that remembers its key.
      if (type === 'delete-session' && outcome.refusal.code === 'not_found') break;
      must(outcome.refusal.code === 'session_running', `${type} was refused: ${refusalOf(outcome)}`);
      await this.#untilIdle();
    }
    this.end = type === 'archive-session' ? 'archived' : 'deleted';
  }

  async #look(): Promise<Session | null> {
    const node = this.#anyNode();
    if (!node) return null;
    const found = await this.#ask(node, async () => ({
      session: await node.service.session(workspaceId, this.sessionId),
    }));
    if (!found) return null;
    must(found.session !== null || !this.#isCreated, `${this.sessionId} exists and was not found (L11)`);
    if (this.#chance.happens(0.3)) await this.#events();
    return found.session;
  }

  /** All events; what was accepted before must be among them, whoever is asked (L11). */
  async #events(): Promise<SessionEvent[] | null> {
    const node = this.#anyNode();
    const known = this.accepted.flatMap(({ script }) => (script ? [scriptText(script)] : []));
    const query = { order: 'asc' as const, limit: 1_000, after: null, types: null, createdAt: {} };
    const page = node && (await this.#ask(node, () => node.service.events(workspaceId, this.sessionId, query)));
    if (!page) return null;
    const events = JSON.parse(new TextDecoder().decode(page.json)) as SessionEvent[];
    const listed = new Set(events.flatMap((event) => (event.type === 'user.message' ? [textOf(event)] : [])));
    for (const text of known) must(listed.has(text), `an accepted message is not listed (L11): ${text}`);
    return events;
  }

  #anyNode(): SimNode | null {
    const nodes = this.#world.readyNodes();
    return nodes.length === 0 ? null : this.#chance.pick(nodes);
  }

  #pause(atMostMs: number): Promise<void> {
    return this.#world.scheduler.pause(this.#chance.between(0, atMostMs));
  }
}

const interrupt: ClientEvent = { type: 'user.interrupt', sessionThreadId: null };

function systemMessage(text: string): ClientEvent {
  return { type: 'system.message', content: [{ type: 'text', text }] };
}

function textOf(event: SessionEvent & { type: 'user.message' }): string {
  const block = event.content[0];
  return block && 'text' in block ? block.text : '';
}

function refusalOf(outcome: CommandOutcome): string {
  const refusal: Refusal | null = outcome.kind === 'refused' ? outcome.refusal : null;
  return refusal ? `${refusal.code}: ${refusal.message}` : 'not refused';
}

/** Writing asks first; `ask_human` is answered by the client; the rest runs. */
export const agentTools = [
  {
    type: 'agent_toolset_20260401' as const,
    configs: builtinToolNames.map((name) => {
      const type = name === 'write' ? 'always_ask' : 'always_allow';
      return { name, type: name, enabled: true, permission_policy: { type } } as BuiltinToolConfig;
    }),
    default_config: { enabled: true, permission_policy: { type: 'always_allow' as const } },
  },
  {
    type: 'custom' as const,
    name: 'ask_human',
    description: 'Asks.',
    input_schema: { type: 'object' as const },
  },
];
