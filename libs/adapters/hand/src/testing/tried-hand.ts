import { randomBytes } from 'node:crypto';
import type { Execution, Hand, HandConnector, HandRef, SandboxProvider } from '@manyhands/ports';
import {
  formatId,
  type BuiltinToolName,
  type EnvironmentSettings,
  type Epoch,
  type EventId,
  type SessionId,
} from '@manyhands/protocol';

export const environment: EnvironmentSettings = {
  name: 'tried',
  description: null,
  config: {
    type: 'cloud',
    networking: { type: 'unrestricted' },
    packages: { apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] },
  },
  metadata: {},
};

export const epoch = 1 as Epoch;

export function newSessionId(): SessionId {
  return formatId('session', randomBytes(16));
}

export function newExecutionId(): EventId {
  return formatId('event', randomBytes(16));
}

export function textOf(execution: Execution): string {
  if (execution.state !== 'finished') throw new Error(`the execution is ${execution.state}`);
  return execution.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');
}

/** A provisioned hand, spoken to as a test likes to. */
export class TriedHand {
  readonly ref: HandRef;
  readonly hand: Hand;

  private constructor(ref: HandRef, hand: Hand) {
    this.ref = ref;
    this.hand = hand;
  }

  static async provision(
    provider: SandboxProvider,
    connector: HandConnector,
    ref: HandRef = { sessionId: newSessionId(), hand: 'main', generation: 1 },
  ): Promise<TriedHand> {
    const { address } = await provider.provision({ ref, environment }, new AbortController().signal);
    return new TriedHand(ref, connector.connect(ref, address));
  }

  call(name: BuiltinToolName, input: Record<string, unknown>, executionId = newExecutionId()): Promise<Execution> {
    return this.hand.execute(epoch, { executionId, name, input }, new AbortController().signal);
  }

  /** A command's output; of a failing one too. */
  async bash(command: string, input: Record<string, unknown> = {}): Promise<string> {
    return textOf(await this.call('bash', { command, ...input }));
  }
}
