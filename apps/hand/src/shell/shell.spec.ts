import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolAnswer } from '@manyhands/ports';
import { Shell, type BashInput } from './shell.ts';

let folder: string;
let shell: Shell;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shell-'));
  shell = new Shell(folder, { PATH: '/usr/bin:/bin', GIVEN: 'yes' });
});
afterEach(() => {
  shell.end();
  rmSync(folder, { recursive: true });
});

async function run(command: string, input: BashInput = {}, signal = new AbortController().signal): Promise<string> {
  return textOf(await shell.run({ command, ...input }, signal));
}

function textOf({ content }: ToolAnswer): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

describe('the shell', () => {
  it('keeps directory, variables, functions and jobs', async () => {
    await run('mkdir d; cd d; X=1; f() { echo f; }; sleep 30 &');
    expect(await run('basename $PWD; echo $X; f; jobs | grep -c sleep')).toBe('d\n1\nf\n1');
  });

  it('gives commands the environment it was given, and no other', async () => {
    expect(await run('echo $GIVEN; echo ${HOME-none}')).toBe('yes\nnone');
  });

  it('merges both outputs in their order', async () => {
    expect(await run('echo a; echo b >&2; echo c')).toBe('a\nb\nc');
  });

  it('makes an error of an exit status', async () => {
    const answer = await shell.run({ command: 'echo out; (exit 3)' }, new AbortController().signal);
    expect(answer).toEqual({ isError: true, content: [{ type: 'text', text: 'out\nexit status 3' }] });
  });

  it('says so when there was no output', async () => {
    expect(await run('true')).toBe('(no output)');
    expect(await run('false')).toBe('(no output)\nexit status 1');
  });

  it('survives a syntax error', async () => {
    await run('X=1');
    expect(await run('if then fi (')).toMatch(/syntax error[\s\S]*exit status [12]$/);
    expect(await run("echo 'unclosed")).toMatch(/exit status [12]$/);
    expect(await run('echo $X')).toBe('1');
  });

  it('tells what a command wrote before it ended the shell', async () => {
    expect(await run('echo last words; exit 4')).toBe('last words\nexit status 4');
    expect(await run('echo bye; exit 0')).toBe('bye');
    expect(await run('echo anew')).toBe('anew');
  });

  it('is not led astray by what a command does to its descriptors', async () => {
    expect(await run('exec >/dev/null 2>&1; echo lost')).toBe('(no output)');
    expect(await run('exec 3>&- 4>&-; echo still there')).toBe('still there');
    expect(await run('cat')).toBe('(no output)');
  });

  it('shows quotes, newlines and odd characters as they are', async () => {
    expect(
      await run(`printf '%s|' "it's" 'a"b' '$X' 'back\\slash' '\`tick\`' 'ünï'; cat <<'END'\nhere 'it' is\nEND`),
    ).toBe("it's|a\"b|$X|back\\slash|`tick`|ünï|here 'it' is");
  });

  it('keeps what a background job writes for the next look', async () => {
    await run('(sleep 0.1; echo from behind) &');
    expect(await run('sleep 0.3; echo front')).toBe('from behind\nfront');
  });

  it('starts a new shell when told to', async () => {
    await run('X=1');
    expect(textOf(await shell.run({ restart: true }, new AbortController().signal))).toBe('bash session restarted');
    expect(await run('echo ${X-none}')).toBe('none');
  });

  it('kills the whole tree when the time is over, and begins anew', async () => {
    const text = await run('sleep 998 & echo $! > pid; echo begun; sleep 998', { timeout_ms: 200 });
    expect(text).toBe('begun\nbash: timed out after 200ms; the shell was restarted');
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await run('pwd')).toBe(folder);
  });

  it('ends a command that was cancelled', async () => {
    const cancel = new AbortController();
    const running = run('echo begun; sleep 997', {}, cancel.signal);
    await expect.poll(() => shell.outputText()).toBe('begun');
    cancel.abort('cancelled');
    expect(await running).toBe('begun\nbash: cancelled; the shell was restarted');
  });

  it('lets neither the time limit nor a late cancel of an earlier command end a later one', async () => {
    const earlier = new AbortController();
    await run('X=1', { timeout_ms: 300 }, earlier.signal);
    const later = run('sleep 0.6; echo $X');
    earlier.abort('cancelled');
    expect(await later).toBe('1');
  });

  it('leaves the shell alone when the call was cancelled before it began', async () => {
    await run('X=1');
    const cancel = new AbortController();
    cancel.abort('cancelled');
    expect(await run('X=2', {}, cancel.signal)).toBe('bash: cancelled');
    expect(await run('echo $X')).toBe('1');
  });

  it.each([
    [{}, 'bash: command is required'],
    [{ command: 'a\0b' }, 'bash: a command cannot hold a NUL character'],
  ])('refuses %j', async (input, text) => {
    expect(textOf(await shell.run(input, new AbortController().signal))).toBe(text);
  });

  it('takes long commands and gives long output', async () => {
    const word = 'x'.repeat(200_000);
    expect(await run(`v='${word}'; echo \${#v}`)).toBe('200000');
    expect((await run('yes | head -c 50000000')).startsWith('[output truncated]\n')).toBe(true);
  });
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
