import { readdirSync, readFileSync } from 'node:fs';

interface ProcessStat {
  pid: number;
  parent: number;
  session: number;
}

/**
 * Kills a process that leads its own session, all its descendants, and whatever else is in that session: job control and
 * programs such as `timeout` put processes into groups of their own. Repeats until none is found, because a process may
 * have forked between the look and the kill. What has made itself a daemon (a new session and no living parent) stays.
 */
export function killTree(leader: number): void {
  // Far more rounds than any tree needs; a tree that grows faster than it is killed must not block the daemon for ever.
  for (let round = 0; round < 100; round++) {
    const doomed = treeOf(leader);
    kill(-leader);
    for (const pid of doomed) kill(pid);
    if (doomed.length === 0) return;
  }
}

function treeOf(leader: number): number[] {
  const processes = listProcesses();
  const tree = new Set([leader]);
  for (let size = 0; size !== tree.size;) {
    size = tree.size;
    for (const { pid, parent, session } of processes) if (tree.has(parent) || session === leader) tree.add(pid);
  }
  return processes.map(({ pid }) => pid).filter((pid) => tree.has(pid));
}

/** The living processes of this PID namespace; none where there is no /proc. */
function listProcesses(): ProcessStat[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  return names.filter((name) => /^\d+$/.test(name)).flatMap((name) => readStat(Number(name)) ?? []);
}

function readStat(pid: number): ProcessStat | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null; // It ended meanwhile.
  }
  // The name in parentheses may hold anything; after its last one come state, parent, group, session.
  const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? null : { pid, parent: Number(parent), session: Number(session) };
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
