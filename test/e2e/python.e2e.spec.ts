/** The official Python SDK as a black-box client; `npm run setup` makes its virtual environment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { usePlatform } from '../support/platform.ts';

const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
const python = path.join(cache, 'manyhands/python/bin/python');
const isThere = existsSync(python);
if (!isThere) console.warn(`Skipped: there is no Python SDK at ${python}; \`npm run setup\` installs it.`);

describe.skipIf(!isThere)('the Python SDK', () => {
  const platform = usePlatform();

  it('walks the main path', async () => {
    const child = spawn(python, [path.join(import.meta.dirname, 'python/main_path.py')], {
      env: { MANYHANDS_URL: platform.server.url, MANYHANDS_API_KEY: platform.server.apiKey },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, printed).toBe(0);
    expect(printed.trim().split('\n')).toEqual([
      'resources',
      'turns_with_tools',
      'send_first',
      'previews',
      'interrupt',
      'confirmation',
      'custom_tool',
      'lists_and_ends',
    ]);
    for await (const { id } of platform.client.beta.sessions.list({ include_archived: true }))
      await platform.follow(id, { record: false });
  });
});
