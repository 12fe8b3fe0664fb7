import { insideId, type SandboxUser } from './sandbox-user.ts';
import type { ViewEntry } from './sandbox-view.ts';

/**
 * The command line that runs a command by bubblewrap, which is the first process inside and reaps what is orphaned.
 * Without `--die-with-parent`: a hand outlives the server.
 */
export function bubblewrapCommand(view: ViewEntry[], user: SandboxUser, command: string[]): string[] {
  return [
    'bwrap',
    ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try', '--new-session'],
    ...userArguments(user),
    ...['--hostname', 'sandbox', '--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...view.flatMap(entryArguments),
    ...['--remount-ro', '/', '--chdir', '/', '--'],
    ...(user.kind === 'own' ? becomeUser(user.uid) : []),
    ...command,
  ];
}

/** Gives up everything that a root has for being root. */
export function becomeUser(uid: number): string[] {
  return [
    '/usr/bin/setpriv',
    `--reuid=${uid}`,
    `--regid=${uid}`,
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
    '--inh-caps=-all',
    '--',
  ];
}

function userArguments(user: SandboxUser): string[] {
  if (user.kind === 'namespaced') return ['--unshare-user', '--uid', String(insideId), '--gid', String(insideId)];
  // To become another user is the only thing the root inside is for.
  return ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((capability) => ['--cap-add', capability]);
}

function entryArguments(entry: ViewEntry): string[] {
  switch (entry.kind) {
    case 'read-only':
      return ['--ro-bind', entry.from, entry.at];
    case 'writable':
      return ['--bind', entry.from, entry.at];
    case 'folder':
      return ['--dir', entry.at];
    case 'empty':
      return ['--tmpfs', entry.at, '--remount-ro', entry.at];
    case 'link':
      return ['--symlink', entry.to, entry.at];
  }
}
