/** From the body of a create to the agent as it is stored and shown. */
import type { AgentConfig, CreateAgentBody, SkillParams } from './agents.ts';
import type { EffortLevel, ModelConfig, ModelParams } from './model-config.ts';
import { resolveTools } from './resolve-tools.ts';
import type { ExecutionIdentity, Skill } from './session-agent.ts';

/** The effort a model works with when nobody says one; knowledge of the models' profiles, so it is passed in. */
export type DefaultEffort = (modelId: string) => EffortLevel;

export const defaultExecutionIdentity: ExecutionIdentity = { type: 'service_account' };

export function resolveAgent(body: CreateAgentBody, defaultEffort: DefaultEffort): AgentConfig {
  // not-yet.ts refuses it before; a roster that vanished in silence would be worse than a failure.
  if (body.multiagent != null) throw new Error('multiagent cannot be resolved yet');
  return {
    name: body.name,
    description: emptyToNull(body.description),
    model: resolveModel(body.model, defaultEffort),
    system: emptyToNull(body.system),
    tools: resolveTools(body.tools ?? []),
    mcp_servers: body.mcp_servers ?? [],
    skills: resolveSkills(body.skills ?? []),
    multiagent: null,
    execution_identity: body.execution_identity ?? defaultExecutionIdentity,
    metadata: body.metadata ?? {},
  };
}

/** Always an object, with effort and speed. */
export function resolveModel(model: ModelParams, defaultEffort: DefaultEffort): ModelConfig {
  if (typeof model === 'string') return resolveModel({ id: model }, defaultEffort);
  return {
    id: model.id,
    effort:
      typeof model.effort === 'string' ? { type: model.effort } : (model.effort ?? { type: defaultEffort(model.id) }),
    speed: model.speed ?? 'standard',
    ...(model.inference_geo == null ? {} : { inference_geo: model.inference_geo }),
  };
}

/** Leaves `latest` in place: which version that is only the store of skills knows. */
export function resolveSkills(skills: readonly SkillParams[]): Skill[] {
  return skills.map((skill) => ({ ...skill, version: skill.version ?? 'latest' }));
}

/** An empty description or system prompt clears it, like null. */
export function emptyToNull(text: string | null | undefined): string | null {
  return text == null || text === '' ? null : text;
}
