import { describe, expect, it } from 'vitest';
import { agentWith } from '../testing/fixtures.ts';
import { textBlock, use } from '../testing/story.ts';
import { builtinTools, summaryOf } from './builtin-tools.ts';
import { builtinConfig, classifyCalls, offeredTools } from './tools.ts';

const withSearch = { webSearch: true };
const withoutSearch = { webSearch: false };
const names = (agent = agentWith(), available = withSearch) =>
  offeredTools(agent, available, builtinTools).map((tool) => tool.name);

describe('the tools a model is offered', () => {
  it('are the enabled built-in ones in canonical order, then the custom ones by name', () => {
    expect(names(agentWith({ edit: 'disabled' }, ['zeta', 'alpha']))).toEqual([
      'bash',
      'read',
      'write',
      'glob',
      'grep',
      'web_fetch',
      'web_search',
      'alpha',
      'zeta',
    ]);
  });

  it('leave out a search that nobody provides', () => {
    expect(names(agentWith(), withoutSearch)).not.toContain('web_search');
  });
});

describe('a call of a response', () => {
  it('stands to the agent’s tools by its name', () => {
    const agent = agentWith({ bash: 'always_ask', read: 'auto', grep: 'disabled' });
    const blocks = ['bash', 'read', 'write', 'grep', 'web_search', 'ask_human', 'dance'].map((name) => use(name, name));
    const kinds = classifyCalls([textBlock('so'), ...blocks], agent, withoutSearch);
    expect(
      [...kinds].map(([index, kind]) => [index, kind.kind, 'permission' in kind ? kind.permission : null]),
    ).toEqual([
      [1, 'builtin', 'ask'],
      [2, 'builtin', 'ask'],
      [3, 'builtin', 'allow'],
      [4, 'builtin', 'deny'],
      [5, 'builtin', 'deny'],
      [6, 'custom', null],
      [7, 'unknown', null],
    ]);
  });

  it('finds the settings of its tool', () => {
    expect(builtinConfig(agentWith({ bash: 'auto' }), 'bash')?.permission_policy).toEqual({ type: 'auto' });
    expect(builtinConfig({ tools: [] }, 'bash')).toBeNull();
  });
});

describe('a summary', () => {
  it.each([
    ['thinking <summary> S </summary> more', 'S'],
    ['<summary>cut off by the limi', 'cut off by the limi'],
    ['without any mark', 'without any mark'],
    ['<summary>  </summary>', null],
    ['', null],
  ])('of %j is %j', (text, expected) => {
    expect(summaryOf(text)).toBe(expected);
  });
});
