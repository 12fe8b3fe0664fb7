/**
 * The daemon of one life of one hand. Its one argument is its configuration, its environment that of the commands.
 *
 * - Making the journal is what makes it the only one: the name can be taken once and is never given back, not even at
 *   the end. A second daemon of the same life finds it taken and goes.
 * - It outlives the platform's process, and ends itself when nobody has asked for anything for the idle time.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { handFenceName, handJournalName, handSocketName, parseHandConfig, type HandConfig } from '@manyhands/core';
import { forwardEgress, proxyEnvironment } from './egress-forward.ts';
import { Executions } from './executions.ts';
import { Fence } from './fence.ts';
import { Grants } from './grants.ts';
import { IdleEnd } from './idle-end.ts';
import { Journal } from './journal.ts';
import { handServer } from './server.ts';
import { Toolset } from './toolset.ts';

/** 75 is "try again later" elsewhere: another daemon of this life was first. */
const exitCodes = { ended: 0, lifeTaken: 75 };
/** The first command must not wait for the file tools to load. */
const warmUpAfterMs = 300;

/** How soon a daemon ends whose directory was removed under it: it can never be found again (S4). */
const orphanCheckMs = 5_000;

process.umask(0o022);
await serve(parseHandConfig(process.argv[2] ?? ''));

async function serve(config: HandConfig): Promise<void> {
  const journal = await takeLife(join(config.stateDir, handJournalName));
  const tools = new Toolset(config, await commandEnvironment(config));
  const executions = new Executions(journal, tools, config.toolOutputDir);
  const fence = new Fence(join(config.stateDir, handFenceName));
  const end = (): never => {
    tools.end();
    // Not by closing the server, which would remove the socket's name.
    process.exit(exitCodes.ended);
  };
  const idleEnd = new IdleEnd(config.idleMs, () => executions.busy, end);
  executions.onQuiet = idleEnd.postpone;
  // For good: whoever ends a hand asks again until it is gone, and a second signal must not cut short what the first began.
  process.on('SIGTERM', end);

  const server = handServer({ executions, fence, grants: new Grants(config, fence), onContact: idleEnd.postpone });
  // By a relative name, because where there is no sandbox around it the path may be longer than a socket's can be.
  process.chdir(config.stateDir);
  server.listen({ path: handSocketName });
  await once(server, 'listening');
  setTimeout(() => void tools.warmUp(), warmUpAfterMs).unref();
  setInterval(() => void journal.isRemoved().then((removed) => removed && end()), orphanCheckMs).unref();
}

async function takeLife(journalPath: string): Promise<Journal> {
  try {
    return await Journal.create(journalPath);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') process.exit(exitCodes.lifeTaken);
    throw error;
  }
}

async function commandEnvironment(config: HandConfig): Promise<NodeJS.ProcessEnv> {
  // eslint-disable-next-line no-restricted-properties -- The daemon has no settings in it; it hands it on.
  const own = process.env;
  if (!config.egress) return { ...own };
  return { ...own, ...proxyEnvironment(await forwardEgress(config.egress.socketPath, config.egress.port)) };
}
