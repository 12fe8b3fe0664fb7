/** Which way of isolating works on this machine. That a program is there says little: it may be forbidden to do its work. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SessionId } from '@manyhands/protocol';
import { bubblewrapCommand } from './bubblewrap.ts';
import { LifeDirectory } from './life-directory.ts';
import { defaultLimits, limitCommand } from './limits.ts';
import { giveTo, userOf } from './sandbox-user.ts';
import { inside, sandboxView, type ViewParts } from './sandbox-view.ts';
import { unshareCommand } from './unshare.ts';

export type Isolation = 'bubblewrap' | 'unshare';

/** In the order of preference. */
export const isolations: readonly Isolation[] = ['bubblewrap', 'unshare'];

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

type ProbeParts = Pick<ViewParts, 'bundle' | 'hidden' | 'shown'>;

/** What a machine allows does not change while a process runs. */
const problems = new Map<Isolation, Promise<string | null>>();

/** Why it does not work here; null when it does. */
export function isolationProblem(isolation: Isolation, directory: string, parts: ProbeParts): Promise<string | null> {
  const known = problems.get(isolation) ?? findProblem(isolation, directory, parts);
  problems.set(isolation, known);
  return known;
}

async function findProblem(isolation: Isolation, directory: string, parts: ProbeParts): Promise<string | null> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const place = mkdtempSync(join(directory, '.probe-'));
  try {
    const sessionId = 'probe' as SessionId;
    const life = new LifeDirectory(place, { sessionId, hand: 'main', generation: 1 });
    life.create();
    const user = userOf(sessionId);
    giveTo(user, [...Object.values(life.folders), life.run, life.tmp]);
    const view = sandboxView({ ...parts, life, user, egressFolder: life.run });
    const command = isolatedCommand(isolation, { view, user, life }, [
      ...limitCommand(defaultLimits),
      ...[inside.node, '-e', probe],
    ]);
    const [program, ...parameters] = command as [string, ...string[]];
    await run(program, parameters, { timeout: probeTimeoutMs, killSignal: 'SIGKILL' });
    return null;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return (stderr || message).trim().slice(-500);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

export function isolatedCommand(
  isolation: Isolation,
  sandbox: { view: ReturnType<typeof sandboxView>; user: ReturnType<typeof userOf>; life: LifeDirectory },
  command: string[],
): string[] {
  const { view, user, life } = sandbox;
  if (isolation === 'bubblewrap') return bubblewrapCommand(view, user, command);
  return unshareCommand(view, user, life.root, command);
}
