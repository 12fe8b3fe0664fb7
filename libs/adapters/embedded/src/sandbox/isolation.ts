/** Which way of isolating works on this machine. That a program is there says little: it may be forbidden to do its work. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SessionId } from '@manyhands/protocol';
import { isolatedCommand, type DaemonParts, type Isolation } from './daemon-command.ts';
import { path } from './launch.ts';
import { LifeDirectory } from './life-directory.ts';
import { giveTo, userOf } from './sandbox-user.ts';
import { inside } from './sandbox-view.ts';

type RealIsolation = Exclude<Isolation, 'none'>;

/** In the order of preference. */
export const isolations: readonly RealIsolation[] = ['bubblewrap', 'unshare'];

export type ProbeParts = Pick<DaemonParts, 'bundle' | 'limits' | 'hidden' | 'shown'>;

const run = promisify(execFile);
/** A machine under load starts slowly; one that hangs must not keep the server from starting. */
const probeTimeoutMs = 20_000;

/** The workspace can be written, and the loopback is up. */
const probe = `
const net = require('node:net');
require('node:fs').writeFileSync('${inside.workspace}/probe', '');
const server = net.createServer().listen(0, '127.0.0.1', () => {
  const socket = net.connect(server.address().port, '127.0.0.1');
  socket.on('connect', () => process.exit(0));
});`;

/** What a machine allows does not change while a process runs. */
const problems = new Map<RealIsolation, Promise<string | null>>();

/** Why it does not work here; null when it does. */
export function isolationProblem(
  isolation: RealIsolation,
  directory: string,
  parts: ProbeParts,
): Promise<string | null> {
  const known = problems.get(isolation) ?? findProblem(isolation, directory, parts);
  problems.set(isolation, known);
  return known;
}

async function findProblem(isolation: RealIsolation, directory: string, parts: ProbeParts): Promise<string | null> {
  const place = mkdtempSync(join(directory, '.probe-'));
  try {
    const sessionId = 'probe' as SessionId;
    const life = new LifeDirectory(place, { sessionId, hand: 'main', generation: 1 });
    life.create();
    const user = userOf(sessionId);
    giveTo(user, life.shown);
    const [program, ...parameters] = isolatedCommand(isolation, { ...parts, life, user, egressSocket: life.socket }, [
      inside.node,
      '-e',
      probe,
    ]) as [string, ...string[]];
    await run(program, parameters, { timeout: probeTimeoutMs, killSignal: 'SIGKILL', env: { PATH: path } });
    return null;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return (stderr || message).trim().slice(-500);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
