/** Values that specs start from: an agent, an environment, limits, and what clients send. */
import { builtinToolNames } from '@manyhands/protocol';
import type {
  BuiltinToolConfig,
  BuiltinToolName,
  ClientEvent,
  EnvironmentId,
  EnvironmentSettings,
  EventId,
  Instant,
  SessionAgent,
  SessionId,
  ThreadId,
  WorkspaceId,
} from '@manyhands/protocol';
import { defaultTakeoverLimits } from '../harness/limits.ts';
import type { TurnLimits } from '../harness/limits.ts';

export const sessionId = 'sesn_1' as SessionId;
export const workspaceId = 'wrkspc_1' as WorkspaceId;
export const environmentId = 'env_1' as EnvironmentId;
export const threadId = 'sthr_1' as ThreadId;
export const startOfTime = 1_000_000 as Instant;

/** One microcent a token makes costs easy to read; the window is small enough to fill. */
export const limits: TurnLimits = {
  price: { input: 1, output: 1, cacheRead: 1, cacheWrite5m: 1, cacheWrite1h: 1 },
  contextWindowTokens: 1_000,
  maxOutputTokens: 100,
  trimAbove: 0.6,
  compactAbove: 0.8,
  maxFailures: 3,
  maxCompactions: 2,
  takeover: defaultTakeoverLimits,
};

type Policies = Partial<Record<BuiltinToolName, 'always_allow' | 'always_ask' | 'auto' | 'disabled'>>;

/** An agent with these built-in tools and custom ones; a built-in tool that is not named is enabled and allowed. */
export function agentWith(policies: Policies = {}, custom: readonly string[] = ['ask_human']): SessionAgent {
  const configs = builtinToolNames.map((name) => {
    const policy = policies[name] ?? 'always_allow';
    const enabled = policy !== 'disabled';
    const type = enabled ? policy : 'always_allow';
    return { name, type: name, enabled, permission_policy: { type } } as BuiltinToolConfig;
  });
  const toolset = {
    type: 'agent_toolset_20260401' as const,
    configs,
    default_config: { enabled: true, permission_policy: { type: 'always_allow' as const } },
  };
  return {
    type: 'agent',
    id: 'agent_1',
    version: 1,
    name: 'Agent',
    description: null,
    model: { id: 'model-1' },
    system: null,
    tools: [
      toolset,
      ...custom.map((name) => ({
        type: 'custom' as const,
        name,
        description: name,
        input_schema: { type: 'object' as const },
      })),
    ],
    mcp_servers: [],
    skills: [],
    execution_identity: { type: 'service_account' },
    multiagent: null,
  };
}

export const environment: EnvironmentSettings = {
  name: 'environment',
  description: null,
  config: {
    type: 'cloud',
    networking: { type: 'unrestricted' },
    packages: {},
  } as unknown as EnvironmentSettings['config'],
  metadata: {},
};

export function message(text: string): ClientEvent {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}

export function systemMessage(text: string): ClientEvent {
  return { type: 'system.message', content: [{ type: 'text', text }] };
}

export function interrupt(sessionThreadId: string | null = null): ClientEvent {
  return { type: 'user.interrupt', sessionThreadId: sessionThreadId as ThreadId | null };
}

export function allow(toolUseId: EventId): ClientEvent {
  return { type: 'user.tool_confirmation', toolUseId, result: 'allow', denyMessage: null };
}

export function deny(toolUseId: EventId, denyMessage: string | null = null): ClientEvent {
  return { type: 'user.tool_confirmation', toolUseId, result: 'deny', denyMessage };
}

export function customResult(toolUseId: EventId, text = 'done'): ClientEvent {
  return { type: 'user.custom_tool_result', toolUseId, isError: undefined, content: [{ type: 'text', text }] };
}
