/**
 * Deletes a session of a server that is not running, and dies at one of the steps of it:
 *
 *     node dying-eraser.ts <data directory> <session> <step> <earlier sessions>
 *
 * A step is a call of a port, before it is made or after it was made. Those of this deletion alone are counted: earlier
 * ones that were left half done are completed first. It ends with SIGKILL at the step, or with exit code 0 and the number
 * of steps when there are fewer.
 */
import path from 'node:path';
import { DirectoryBlobStore } from '@manyhands/adapter-blob';
import {
  DataDirectoryLock,
  EmbeddedTopic,
  FileKeyService,
  loadOrCreateSigningKey,
  LocalSandboxProvider,
  SystemClock,
} from '@manyhands/adapter-embedded';
import { formatId, sessionStream, type SessionId } from '@manyhands/protocol';
import { SessionLogService } from '@manyhands/runtime';
import { until } from './conditions.ts';
import { partitions, silentLogger } from './log-audit.ts';

const [dataDirectory = '', session = '', dieAt = '', ...earlierSessions] = process.argv.slice(2);
const handBundle = path.resolve(import.meta.dirname, '../../apps/hand/dist/hand.mjs');
const sessionId = session as SessionId;
const workspaceId = formatId('workspace', new Uint8Array(16));
const inside = (name: string): string => path.join(dataDirectory, name);

let counting = false;
let steps = 0;

function step(): void {
  if (counting && ++steps === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
}

/** The same port, with a step before and after each of its calls. */
function mortal<T extends object>(port: T, names: readonly (keyof T)[]): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!names.includes(name as keyof T)) return value.bind(target) as unknown;
      return async (...args: unknown[]): Promise<unknown> => {
        step();
        const answer = (await value.apply(target, args)) as unknown;
        step();
        return answer;
      };
    },
  });
}

DataDirectoryLock.acquire(dataDirectory);
const topic = await EmbeddedTopic.open({ file: inside('log.db'), partitions });
const provider = mortal(
  await LocalSandboxProvider.open({
    directory: inside('hands'),
    handBundle,
    grantPublicKey: loadOrCreateSigningKey(inside('grants.key')).publicKey,
    egressSocketFor: () => Promise.reject(new Error('nothing is started here')),
    releaseEgress: () => Promise.resolve(),
    logger: silentLogger,
  }),
  ['destroy'],
);
const log = new SessionLogService({
  topic: mortal(topic, ['append', 'endOffsets']),
  blobs: mortal(await DirectoryBlobStore.open(inside('blobs')), ['deletePrefix']),
  keys: FileKeyService.open(inside('key-encryption.key'), { mayCreate: false }),
  clock: new SystemClock(),
  logger: silentLogger,
  copyPath: inside('copy.db'),
  keysPath: inside('keys.db'),
  readerThreads: 0,
  defaultEffort: () => 'high',
  eraseElsewhere: (id) => provider.destroy(id),
});
await log.start();
for (const earlier of earlierSessions) await untilErased(earlier as SessionId);
counting = true;
await log.execute({ type: 'delete-session', workspaceId, idempotency: null, sessionId });
await untilErased(sessionId);
process.stdout.write(`${steps}\n`, () => process.exit(0));

/** Resolves at once for one whose deletion was never accepted. */
async function untilErased(id: SessionId): Promise<void> {
  await until(`${id} to be erased`, async () => {
    const kinds = ['session.deleted', 'session.erased'] as const;
    const { records } = await log.getEvents(sessionStream(id), { kinds });
    return records.length !== 1;
  });
}
