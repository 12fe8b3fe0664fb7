import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { NotFoundError } from '@anthropic-ai/sdk';
import { script } from '@manyhands/adapter-scripted-model';
import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import type { Conversation } from '../support/conversation.ts';
import { LogFile } from '../support/log-file.ts';
import { usePlatform } from '../support/platform.ts';

describe('erasure', () => {
  const platform = usePlatform();
  const sessions = () => platform.client.beta.sessions;

  /** Files of the data directory that hold a text, in the bytes of their content or in their name. */
  async function filesWith(...texts: string[]): Promise<string[]> {
    const root = platform.server.dataDirectory;
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const found: string[] = [];
    for (const entry of entries) {
      const file = path.join(entry.parentPath, entry.name);
      // Files come and go while the server works.
      const content = entry.isFile() ? await readFile(file).catch(() => Buffer.alloc(0)) : Buffer.alloc(0);
      if (texts.some((text) => content.includes(text))) found.push(path.relative(root, file));
    }
    return found;
  }

  /** A session that has the text in every place where a session can have one. */
  async function fullSession(text: string): Promise<Conversation> {
    const conversation = await platform.session({ title: `Title ${text}`, metadata: { note: text }, record: false });
    const large = `${text} `.repeat(40_000);
    const chunkChars = 50_000;
    const turns = [
      [
        { thinking: text },
        { text },
        { tool: 'bash', input: { command: `echo ${text} | tee file.txt > /tmp/file.txt` } },
      ],
      { blocks: [{ tool: 'write', input: { file_path: 'large.txt', content: large } }], chunkChars },
      [
        {
          tool: 'bash',
          input: { command: `for i in $(seq 1 100); do sed -n 1p large.txt | head -c 1000; done; cat file.txt` },
        },
      ],
      [{ tool: 'read', input: { file_path: 'large.txt' } }],
      { blocks: [{ text: large }], chunkChars },
    ];
    const stream = await sessions().events.stream(conversation.id);
    await conversation.send({
      type: 'user.message',
      content: [
        { type: 'text', text: large },
        { type: 'text', text: script(turns) },
      ],
    });
    for await (const event of stream) if (event.type === 'session.status_idle') break;
    return conversation;
  }

  it('leaves no plaintext of a deleted session in any file', async () => {
    const text = `plaintext-${crypto.randomUUID()}`;
    const conversation = await fullSession(text);
    const before = await filesWith(text);
    // Only the sandbox keeps what the model wrote there; the log and its copies hold nothing readable.
    expect(before.some((file) => file.endsWith('file.txt'))).toBe(true);
    expect(before.filter((file) => !file.startsWith('hands/'))).toEqual([]);
    await sessions().delete(conversation.id);
    await until('every file to be gone', async () => (await filesWith(text)).length === 0);
    const names = await readdir(platform.server.dataDirectory, { recursive: true });
    await until('the folders to be gone', async () => {
      const entries = await readdir(platform.server.dataDirectory, { recursive: true });
      return !entries.some((entry) => entry.includes(conversation.id));
    });
    expect(names.some((entry) => entry.endsWith('log.db'))).toBe(true);
  });

  it('holds when everything is built anew from the log', async () => {
    const [gone, stays] = [await fullSession('to be deleted'), await fullSession('to be kept')];
    const [kept, session] = [await stays.history(), await stays.session()];
    await sessions().delete(gone.id);
    await platform.server.stop();
    for (const name of await readdir(platform.server.dataDirectory)) {
      if (/^(copy|keys)\.db/.test(name)) await rm(path.join(platform.server.dataDirectory, name));
    }
    await platform.server.start();
    await expect(gone.session()).rejects.toBeInstanceOf(NotFoundError);
    await expect(gone.history()).rejects.toBeInstanceOf(NotFoundError);
    expect(await stays.history()).toEqual(kept);
    expect(await stays.session()).toMatchObject({ title: session.title, status: 'idle', usage: session.usage });
    const ids: string[] = [];
    for await (const { id } of sessions().list()) ids.push(id);
    expect(ids).toContain(stays.id);
    expect(ids).not.toContain(gone.id);
  });

  it('is not what a lost key looks like: that answers 500, and harms no other session', async () => {
    const [lost, well] = [await fullSession('lost'), await fullSession('well')];
    const history = await well.history();
    await platform.server.stop();
    expect(LogFile.change(platform.server.dataDirectory, (log) => log.removeKeys(lost.id))).toBeGreaterThan(0);
    for (const name of await readdir(platform.server.dataDirectory)) {
      if (name.startsWith('keys.db')) await rm(path.join(platform.server.dataDirectory, name));
    }
    await platform.server.start();
    for (const request of [() => lost.session(), () => lost.history()]) {
      await expect(request()).rejects.toMatchObject({
        status: 500,
        message: expect.stringMatching(/key/i) as string,
      });
    }
    expect(await well.history()).toEqual(history);
    await well.say('Still there?');
    await until('the answer', async () => (await well.session()).status === 'idle');
    expect(await well.history()).not.toEqual(history);
    expect((await sessions().list()).data.map(({ id }) => id)).toContain(well.id);
    // What cannot be read can still be deleted.
    expect((await sessions().delete(lost.id)).type).toBe('session_deleted');
    await expect(lost.session()).rejects.toBeInstanceOf(NotFoundError);
  });
});
