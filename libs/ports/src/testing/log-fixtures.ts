/** Wishes and contents for tests of the session log: small, valid, and told apart by their texts. */
import type {
  AgentConfig,
  AgentId,
  CreateAgent,
  CreateEnvironment,
  CreateSession,
  EnvironmentId,
  EnvironmentSettings,
  IdempotencyMark,
  SendEvents,
  SessionAgent,
  SessionId,
  WorkspaceId,
} from '@manyhands/protocol';
import { formatId, type IdKind, type IdOf } from '@manyhands/protocol';

let count = 0;

/** An id nobody has used in this process. */
export function newTestId<K extends IdKind>(kind: K): IdOf[K] {
  count++;
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, count);
  // Scattered, as real ids are: neighbours in time lie in different partitions.
  for (let i = 0; i < 12; i++) bytes[i] = (Math.imul(count, 0x9e3779b1) >>> (8 * (i % 4))) & 0xff;
  return formatId(kind, bytes);
}

export const agentConfig: AgentConfig = {
  name: 'Fixture agent',
  description: null,
  model: { id: 'model-one', effort: { type: 'medium' }, speed: 'standard' },
  system: 'Be brief.',
  tools: [],
  mcp_servers: [],
  skills: [],
  multiagent: null,
  execution_identity: { type: 'service_account' },
  metadata: {},
};

export const environmentSettings: EnvironmentSettings = {
  name: 'Fixture environment',
  description: null,
  config: {
    type: 'cloud',
    networking: { type: 'unrestricted' },
    packages: { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] },
  },
  metadata: {},
  scope: 'organization',
};

export function sessionAgent(id: AgentId = newTestId('agent'), version = 1): SessionAgent {
  const { metadata: _, ...definition } = agentConfig;
  return { type: 'agent', id, version, ...definition, multiagent: null };
}

export function createAgentCommand(workspaceId: WorkspaceId, changes: Partial<CreateAgent> = {}): CreateAgent {
  const agentId: AgentId = newTestId('agent');
  return { type: 'create-agent', workspaceId, idempotency: null, agentId, config: agentConfig, ...changes };
}

export function createEnvironmentCommand(
  workspaceId: WorkspaceId,
  name: string,
  changes: Partial<CreateEnvironment> = {},
): CreateEnvironment {
  const environmentId: EnvironmentId = newTestId('environment');
  const settings = { ...environmentSettings, name };
  return { type: 'create-environment', workspaceId, idempotency: null, environmentId, settings, ...changes };
}

export function createSessionCommand(workspaceId: WorkspaceId, changes: Partial<CreateSession> = {}): CreateSession {
  return {
    type: 'create-session',
    workspaceId,
    idempotency: null,
    sessionId: newTestId('session'),
    title: null,
    metadata: {},
    agent: sessionAgent(),
    environmentId: newTestId('environment'),
    environment: environmentSettings,
    sources: [],
    budgetCents: null,
    initialEvents: [],
    ...changes,
  };
}

export function sendText(
  workspaceId: WorkspaceId,
  sessionId: SessionId,
  text: string,
  idempotency: IdempotencyMark | null = null,
): SendEvents {
  const events: SendEvents['events'] = [{ type: 'user.message', content: [{ type: 'text', text }] }];
  return { type: 'send-events', workspaceId, idempotency, sessionId, events };
}
