/** Messages in the log that no version of the server writes: each harms its own stream at most. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import type { Conversation } from '../support/conversation.ts';
import { LogFile, type StoredCommit } from '../support/log-file.ts';
import { usePlatform } from '../support/platform.ts';

describe('a log with', () => {
  const platform = usePlatform();

  async function spokenSession(): Promise<Conversation> {
    const conversation = await platform.session();
    await conversation.play([[{ tool: 'bash', input: { command: 'echo x' } }], [{ text: 'Spoken.' }]]);
    await conversation.stopRecording();
    return conversation;
  }

  async function expectWell(conversation: Conversation): Promise<void> {
    const before = await conversation.history();
    expect(await conversation.answers()).toContain('Spoken.');
    await conversation.say('And now?');
    await until('an answer', async () => (await conversation.answers()).length > 1);
    await until('the session to be idle', async () => (await conversation.session()).status === 'idle');
    expect((await conversation.history()).slice(0, before.length)).toEqual(before);
  }

  async function restartWith(change: (log: LogFile) => void): Promise<void> {
    expect(await platform.server.stop()).toBe(0);
    LogFile.change(platform.server.dataDirectory, change);
    await platform.server.start();
  }

  const garbage = [
    Uint8Array.of(0xff, 0xfe, 0x00, 0x80),
    Buffer.from('garbage'),
    Buffer.from('{"v":1,"hello":"world"}'),
    Buffer.from('{"v":99,"commitId":"cmt_x","records":[]}'),
    new Uint8Array(),
  ];

  it('messages that are no commits goes on after them, in the same session too', async () => {
    const conversation = await spokenSession();
    await restartWith((log) => {
      const { table } = log.lastCommit(conversation.id);
      for (const value of garbage) log.append(table, conversation.id, value);
    });
    await expectWell(conversation);
  });

  it('a commit that was written already, or out of turn, takes no notice of it', async () => {
    const conversation = await spokenSession();
    await restartWith((log) => {
      const { table, commit } = log.lastCommit(conversation.id);
      log.append(table, conversation.id, bytesOf(commit));
      log.append(table, conversation.id, bytesOf({ ...commit, commitId: `cmt_${randomUUID()}` }));
      log.append(table, conversation.id, bytesOf({ ...commit, commitId: `cmt_${randomUUID()}`, expectedSeq: 10_000 }));
    });
    await expectWell(conversation);
  });

  it('an event that cannot be folded breaks that one session, which says so', async () => {
    const [broken, well] = [await spokenSession(), await spokenSession()];
    await restartWith((log) => {
      const { table, commit } = log.lastCommit(broken.id);
      const poison: StoredCommit = {
        ...commit,
        commitId: `cmt_${randomUUID()}`,
        expectedSeq: commit.expectedSeq + commit.records.length,
        records: [{ id: `sevt_${randomUUID()}`, kind: 'input.taken', facets: { seqs: 17 } }],
      };
      log.append(table, broken.id, bytesOf(poison));
    });
    const { events } = platform.client.beta.sessions;
    const requests = [
      () => broken.session(),
      () => broken.history(),
      () => broken.say('Hello?'),
      () => events.stream(broken.id),
    ];
    for (const request of requests) {
      await expect(request()).rejects.toMatchObject({
        status: 500,
        type: 'api_error',
        message: expect.stringContaining(broken.id) as string,
      });
    }
    await expectWell(well);
    const fresh = await platform.session();
    expect((await fresh.play([[{ text: 'Fresh.' }]])).stop_reason.type).toBe('end_turn');
    const listed = (await platform.client.beta.sessions.list()).data.map(({ id }) => id);
    expect(listed).toContain(well.id);
  });
});

function bytesOf(commit: StoredCommit): Uint8Array {
  return Buffer.from(JSON.stringify(commit));
}
