import { describe, expect, it } from 'vitest';

import { createEnvironmentBodySchema } from './environments.ts';
import { sendEventsBodySchema } from './events.ts';
import {
  unsupportedInAgent,
  unsupportedInEnvironment,
  unsupportedInEvents,
  unsupportedInSession,
  unsupportedInSessionAgent,
} from './not-yet.ts';
import { createSessionBodySchema } from './sessions.ts';

const server = { type: 'url', name: 'git', url: 'https://mcp.example.com' };
const mcpToolset = { type: 'mcp_toolset', mcp_server_name: 'git' };
const file = { type: 'file', file_id: 'file_1' };
const outcome = { type: 'user.define_outcome', description: 'a poem', rubric: { type: 'text', content: 'rhymes' } };
const message = (block: object) => ({ type: 'user.message', content: [{ type: 'text', text: 'hi' }, block] });

describe('what is not supported yet', () => {
  it.each([
    [{ mcp_servers: [], skills: [], multiagent: null, tools: [{ type: 'agent_toolset_20260401' }] }, null],
    [{ mcp_servers: [server], tools: [mcpToolset] }, 'mcp_servers: MCP servers are not supported yet'],
    [{ mcp_servers: [server] }, 'mcp_servers: MCP servers are not supported yet'],
    [{ tools: [{ type: 'agent_toolset_20260401' }, mcpToolset] }, 'tools.1.type: MCP toolsets are not supported yet'],
    [{ skills: [{ type: 'custom', skill_id: 's' }] }, 'skills: skills are not supported yet'],
    [{ mcp_servers: null, skills: null, tools: null }, null],
    [{ multiagent: { type: 'multiagent_20261001' } }, 'multiagent: multi-agent sessions are not supported yet'],
  ])('in an agent: %j', (rest, expected) => {
    expect(unsupportedInAgent({ name: 'Ann', model: 'm', ...rest })).toBe(expected);
  });

  it.each([
    undefined,
    null,
    7,
    'text',
    true,
    [],
    [null],
    {},
    { tools: 'mcp_toolset', mcp_servers: 'all', skills: 7, multiagent: 'yes' },
    { tools: [null, 7, 'mcp_toolset', ['mcp_toolset'], { type: ['mcp_toolset'] }], mcp_servers: {}, skills: {} },
  ])('is not looked for in what the schema refuses: %j', (json) => {
    expect(unsupportedInAgent(json)).toBeNull();
    expect(unsupportedInSessionAgent(json)).toBeNull();
    expect(unsupportedInSessionAgent({ agent: json })).toBeNull();
  });

  it.each([
    [{}, null],
    [{ config: { type: 'cloud' } }, null],
    [{ config: { type: 'self_hosted' } }, 'config.type: self-hosted environments are not supported yet'],
  ])('in an environment: %j', (rest, expected) => {
    expect(unsupportedInEnvironment(createEnvironmentBodySchema.parse({ name: 'box', ...rest }))).toBe(expected);
  });

  it.each([
    [{ vault_ids: [], resources: [], initial_events: [] }, null],
    [{ vault_ids: ['vlt_1'] }, 'vault_ids: vaults are not supported yet'],
    [{ resources: [file] }, 'resources: session resources are not supported yet'],
    [{ initial_events: [outcome] }, 'initial_events.0.type: outcomes (user.define_outcome) are not supported yet'],
  ])('in a session: %j', (rest, expected) => {
    const body = createSessionBodySchema.parse({ agent: 'agent_1', environment_id: 'env_1', ...rest });
    expect(unsupportedInSession(body)).toBe(expected);
  });

  it.each([
    ['agent_1', null],
    [{ type: 'agent', id: 'agent_1' }, null],
    [{ type: 'agent_with_overrides', id: 'agent_1', mcp_servers: null }, null],
    [{ mcp_servers: [server] }, 'agent.mcp_servers: MCP servers are not supported yet'],
    [{ tools: [mcpToolset] }, 'agent.tools.0.type: MCP toolsets are not supported yet'],
    [
      { type: 'agent_with_overrides', id: 'agent_1', skills: [{ type: 'custom', skill_id: 's' }] },
      'agent.skills: skills are not supported yet',
    ],
  ])("in a session's agent: %j", (agent, expected) => {
    expect(unsupportedInSessionAgent({ agent })).toBe(expected);
  });

  it.each([
    [[message({ type: 'image', source: { type: 'url', url: 'https://a.com/a.png' } })], null],
    [
      [message({ type: 'image', source: file })],
      'events.0.content.1.source: content from uploaded files is not supported yet',
    ],
    [
      [{ type: 'user.interrupt' }, message({ type: 'document', source: file })],
      'events.1.content.1.source: content from uploaded files is not supported yet',
    ],
    [
      [
        {
          type: 'user.custom_tool_result',
          custom_tool_use_id: 'sevt_1',
          content: [{ type: 'search_result', source: 'file', title: 't', content: [], citations: { enabled: true } }],
        },
      ],
      null,
    ],
    [[outcome], 'events.0.type: outcomes (user.define_outcome) are not supported yet'],
  ])('in events: %j', (events, expected) => {
    expect(unsupportedInEvents(sendEventsBodySchema.parse({ events }).events)).toBe(expected);
  });
});
