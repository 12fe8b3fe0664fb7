import type { LogRecord, UrlSources } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { customResult, message } from '../testing/fixtures.ts';
import { Story, use } from '../testing/story.ts';
import { isUrlPermitted } from './url-sources.ts';

const urls = {
  user: 'https://user.example/a?b=1&c="2"',
  custom: 'https://custom.example/',
  fetched: 'https://fetched.example/',
  file: 'https://file.example/',
  model: 'https://model.example/',
};

function records(): readonly LogRecord[] {
  const story = new Story().sends(message(`look at ${urls.user}`)).claims();
  story.responds([
    { type: 'text', text: urls.model },
    use('c1', 'ask_human'),
    use('c2', 'web_fetch'),
    use('c3', 'read'),
  ]);
  story.answers('c2', urls.fetched).answers('c3', urls.file);
  return story.sends(customResult(story.call('c1'), urls.custom)).records;
}

const none: UrlSources = {
  client_tool_results: { type: 'none' },
  server_tool_results: { type: 'none' },
  user_input: { type: 'none' },
};

function permitted(sources: UrlSources): string {
  return Object.entries(urls)
    .filter(([, url]) => isUrlPermitted(url, sources, records()))
    .map(([name]) => name)
    .join(' ');
}

const tool = (name: string) => ({ type: 'tool_reference' as const, name });

describe('the URLs that web_fetch may take', () => {
  it.each([
    [
      'everything when nothing is limited',
      { client_tool_results: null, server_tool_results: null, user_input: null },
      'user custom fetched file model',
    ],
    ['nothing at all', none, ''],
    ['what the user wrote', { ...none, user_input: { type: 'all' as const } }, 'user'],
    ['what any custom tool answered', { ...none, client_tool_results: { type: 'all' as const } }, 'custom'],
    [
      'what this custom tool answered',
      { ...none, client_tool_results: { type: 'only' as const, tools: [tool('ask_human')] } },
      'custom',
    ],
    [
      'what another custom tool answered',
      { ...none, client_tool_results: { type: 'only' as const, tools: [tool('other')] } },
      '',
    ],
    [
      'what all but this custom tool answered',
      { ...none, client_tool_results: { type: 'except' as const, tools: [tool('ask_human')] } },
      '',
    ],
    ['what web tools answered', { ...none, server_tool_results: null }, 'fetched'],
    [
      'what other web tools answered',
      { ...none, server_tool_results: { type: 'except' as const, tools: [tool('web_fetch')] } },
      '',
    ],
  ] satisfies [string, UrlSources, string][])('are %s', (_, sources, expected) => {
    expect(permitted(sources)).toBe(expected);
  });
});
