import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { textOf, type Conversation } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';

type Input = Record<string, unknown>;

describe('built-in tools, called by the model', () => {
  const platform = usePlatform();

  /** One call in a turn of its own. */
  async function run(
    conversation: Conversation,
    tool: string,
    input: Input,
  ): Promise<{ text: string; isError: boolean }> {
    const before = (await conversation.ofType('agent.tool_result')).length;
    await conversation.play([[{ tool, input }], [{ text: 'Done.' }]]);
    const result = (await conversation.ofType('agent.tool_result'))[before];
    return { text: textOf(result as object), isError: result?.is_error ?? false };
  }

  it('run commands in one shell that keeps its state', async () => {
    const conversation = await platform.session();
    const bash = (command: string) => run(conversation, 'bash', { command });
    expect(await bash('pwd')).toEqual({ text: expect.stringContaining('/workspace') as string, isError: false });
    await bash('mkdir -p deep && cd deep && export COLOR=green && greet() { echo "hi $1"; }');
    expect((await bash('pwd; echo $COLOR; greet you')).text).toMatch(/\/workspace\/deep\s+green\s+hi you/);
    const failed = await bash('echo partly; exit_code() { return 3; }; exit_code');
    expect(failed.isError).toBe(true);
    expect(failed.text).toContain('partly');
    expect(failed.text).toContain('3');
    expect((await bash('echo out; echo err >&2')).text).toMatch(/out\s+err/);
    expect((await bash('true')).text).toBe('(no output)');
    expect((await run(conversation, 'bash', { restart: true })).isError).toBe(false);
    expect((await bash('pwd; echo "[$COLOR]"')).text).toMatch(/\/workspace\s+\[\]/);
    expect((await bash('ls')).text).toContain('deep');
  });

  it('stop a command at its time limit', async () => {
    const conversation = await platform.session();
    const slow = await run(conversation, 'bash', { command: 'echo begun; sleep 600', timeout_ms: 300 });
    expect(slow.isError).toBe(true);
    expect((await run(conversation, 'bash', { command: 'echo alive' })).text).toContain('alive');
  });

  it('write, read and edit files', async () => {
    const conversation = await platform.session();
    const written = await run(conversation, 'write', { file_path: 'notes/a.txt', content: 'one\ntwo\nthree\ntwo\n' });
    expect(written.isError).toBe(false);
    expect((await run(conversation, 'read', { file_path: '/workspace/notes/a.txt' })).text).toContain(
      'one\ntwo\nthree',
    );
    const some = await run(conversation, 'read', { file_path: 'notes/a.txt', view_range: [2, 3] });
    expect(some.text).toContain('two\nthree');
    expect(some.text).not.toContain('one');
    const edit = (input: Input) => run(conversation, 'edit', { file_path: 'notes/a.txt', ...input });
    expect((await edit({ old_string: 'three', new_string: '3' })).isError).toBe(false);
    expect((await edit({ old_string: 'two', new_string: '2' })).isError).toBe(true);
    expect((await edit({ old_string: 'none', new_string: 'x' })).isError).toBe(true);
    expect((await edit({ old_string: 'two', new_string: '2', replace_all: true })).isError).toBe(false);
    expect((await run(conversation, 'bash', { command: 'cat notes/a.txt' })).text.trim()).toBe('one\n2\n3\n2');
    expect((await run(conversation, 'read', { file_path: 'missing.txt' })).isError).toBe(true);
  });

  it('find files and text', async () => {
    const conversation = await platform.session();
    const command = 'mkdir -p src/deep && echo needle > src/a.ts && echo hay > src/deep/b.ts && echo x > c.md';
    await run(conversation, 'bash', { command });
    const found = await run(conversation, 'glob', { pattern: '**/*.ts' });
    expect(found.text).toContain('src/a.ts');
    expect(found.text).toContain('src/deep/b.ts');
    expect(found.text).not.toContain('c.md');
    expect((await run(conversation, 'glob', { pattern: '*.py' })).text).toBe('no matches');
    const text = await run(conversation, 'grep', { pattern: 'nee.le', path: 'src' });
    expect(text.text).toMatch(/a\.ts:1:needle/);
    expect((await run(conversation, 'grep', { pattern: 'absent' })).text).toBe('no matches');
  });

  it('put a large result into a file, and give the model a preview with its path', async () => {
    const conversation = await platform.session();
    const { text } = await run(conversation, 'bash', { command: 'for i in $(seq 1 30000); do echo "line $i"; done' });
    expect(text.length).toBeLessThan(110_000);
    const longLines = 'for i in $(seq 1 250); do head -c 998 /dev/zero | tr "\\0" x; echo; done > big.txt';
    await run(conversation, 'bash', { command: longLines });
    const read = await run(conversation, 'read', { file_path: 'big.txt' });
    expect(read.text.length).toBeLessThan(110_000);
    const file = /\/[\w./-]+/.exec(read.text)?.[0];
    expect(file).toBeDefined();
    const size = await run(conversation, 'bash', { command: `wc -c < '${file as string}'` });
    expect(Number(size.text)).toBeGreaterThan(200_000);
  });

  it('answer calls with wrong input, of unknown tools, and outside of the workspace with errors', async () => {
    const conversation = await platform.session();
    expect((await run(conversation, 'read', { file_path: '/etc/shadow' })).isError).toBe(true);
    expect((await run(conversation, 'write', { file_path: '/usr/x', content: 'x' })).isError).toBe(true);
    expect((await run(conversation, 'read', { path: 17 })).isError).toBe(true);
    expect((await run(conversation, 'bash', {})).isError).toBe(true);
    expect((await run(conversation, 'dance', { steps: 3 })).isError).toBe(true);
    const [unknown] = (await conversation.ofType('agent.tool_use')).slice(-1);
    expect(unknown).toMatchObject({ name: 'dance', evaluated_permission: 'deny' });
    expect(unknown).not.toHaveProperty('evaluation');
  });

  it('that are switched off are denied', async () => {
    const tools = [{ type: 'agent_toolset_20260401' as const, configs: [{ name: 'bash' as const, enabled: false }] }];
    const agent = await platform.agent({ tools });
    const conversation = await platform.session({ agent: agent.id });
    expect((await run(conversation, 'bash', { command: 'echo x' })).isError).toBe(true);
    expect((await run(conversation, 'write', { file_path: 'x', content: 'x' })).isError).toBe(false);
  });

  it('of one answer all get their results, and those that change something keep their order', async () => {
    const conversation = await platform.session();
    const writes = Array.from({ length: 6 }, (_, n) => ({
      tool: 'bash',
      input: { command: `echo ${n} >> order.txt` },
    }));
    await conversation.play([[...writes, { tool: 'read', input: { file_path: 'order.txt' } }], [{ text: 'Done.' }]]);
    const results = await conversation.ofType('agent.tool_result');
    expect(results).toHaveLength(7);
    expect(textOf(results.at(-1) as object)).toContain('0\n1\n2\n3\n4\n5');
  });

  it('start no sandbox for a session that calls none', async () => {
    const conversation = await platform.session();
    await conversation.play([[{ text: 'Only words.' }]]);
    const hands = await readdir(`${platform.server.dataDirectory}/hands`).catch(() => []);
    expect(hands.filter((name) => name.includes(conversation.id))).toEqual([]);
  });
});
