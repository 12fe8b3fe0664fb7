/**
 * The same sandbox with nothing but util-linux: `unshare` for the namespaces and a shell script that puts the root
 * together, enters it and stays as the first process inside, where it reaps what is orphaned.
 *
 * All mounts but the root's own are lines of one table for one `mount`: a process for each would take longer than all
 * the rest of a start.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { becomeUser } from './bubblewrap.ts';
import type { LifeDirectory } from './life-directory.ts';
import { insideId, type SandboxUser } from './sandbox-user.ts';
import type { ViewEntry } from './sandbox-view.ts';

export function unshareCommand(view: ViewEntry[], user: SandboxUser, life: LifeDirectory, command: string[]): string[] {
  const points = mountPoints();
  const lines = [...baseMounts, ...view.flatMap((entry) => mountsOf(entry, points))];
  writeFileSync(life.mounts, lines.map((line) => tableLine(life.root, line)).join(''), { mode: 0o600 });
  return [
    'unshare',
    ...['--mount', '--ipc', '--pid', '--net', '--uts', '--cgroup', '--fork', '--kill-child'],
    ...(user.kind === 'namespaced' ? ['--user', '--map-root-user'] : []),
    ...['--', '/bin/sh', '-c', script(view), 'sandbox', life.root, life.mounts],
    ...(user.kind === 'own' ? becomeUser(user.uid) : leaveNamespace),
    ...command,
  ];
}

/**
 * The script holds all capabilities over the namespace it runs in. The command gets a namespace below it, over whose
 * mounts it has no say.
 */
const leaveNamespace = [
  ...['/usr/bin/setpriv', '--no-new-privs', '--'],
  ...['/usr/bin/unshare', '--user', `--map-user=${insideId}`, `--map-group=${insideId}`, '--'],
];

interface Mount {
  from: string;
  at: string;
  type: string;
  options: string;
}

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);

const baseMounts: Mount[] = [
  { from: 'proc', at: '/proc', type: 'proc', options: 'nosuid,nodev,noexec' },
  ...devices.map((device) => ({ from: device, at: device, type: 'none', options: 'bind,nosuid' })),
  { from: 'devpts', at: '/dev/pts', type: 'devpts', options: 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec' },
  { from: 'tmpfs', at: '/dev/shm', type: 'tmpfs', options: 'mode=1777,nosuid,nodev' },
];

function mountsOf(entry: ViewEntry, points: MountPoint[]): Mount[] {
  switch (entry.kind) {
    case 'read-only':
    case 'writable': {
      const options = ['bind', entry.kind === 'writable' ? 'rw' : 'ro', 'nosuid', 'nodev'];
      // Inside a user namespace a mount may not become less strict than the one it comes from.
      if (isNoexec(entry.from, points)) options.push('noexec');
      return [{ from: entry.from, at: entry.at, type: 'none', options: options.join() }];
    }
    case 'empty':
      return [{ from: 'tmpfs', at: entry.at, type: 'tmpfs', options: 'ro,nosuid,nodev' }];
    case 'folder':
    case 'link':
      return [];
  }
}

function tableLine(root: string, { from, at, type, options }: Mount): string {
  return `${[from, root + at, type, options].map(escaped).join(' ')} 0 0\n`;
}

interface MountPoint {
  path: string;
  options: string[];
}

/** Mount points, longest first, so that the first that holds a path is the one it is on. */
function mountPoints(): MountPoint[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, , , , path, options] = line.split(' ');
      return path && options ? [{ path: unescaped(path), options: options.split(',') }] : [];
    })
    .sort((a, b) => b.path.length - a.path.length);
}

function isNoexec(path: string, points: MountPoint[]): boolean {
  const holder = points.find(({ path: at }) => at === '/' || path === at || path.startsWith(`${at}/`));
  return holder?.options.includes('noexec') === true;
}

function script(view: ViewEntry[]): string {
  const isFile = (entry: ViewEntry): boolean => 'from' in entry && !statSync(entry.from).isDirectory();
  const links = view.filter((entry) => entry.kind === 'link');
  const files = [...devices, ...view.filter(isFile).map(({ at }) => at)];
  const folders = view.filter((entry) => entry.kind !== 'link' && !isFile(entry)).map(({ at }) => at);
  return [
    begin,
    `mkdir -p ${['dev/pts', 'dev/shm', 'proc', ...folders.map(relative)].map(quoted).join(' ')}`,
    ...files.map((at) => `: >${quoted(relative(at))}`),
    ...[...deviceLinks, ...links].map(({ to, at }) => `ln -s ${quoted(to)} ${quoted(relative(at))}`),
    enter,
  ].join('\n');
}

const deviceLinks = [
  { to: 'pts/ptmx', at: '/dev/ptmx' },
  { to: '/proc/self/fd', at: '/dev/fd' },
  { to: '/proc/self/fd/0', at: '/dev/stdin' },
  { to: '/proc/self/fd/1', at: '/dev/stdout' },
  { to: '/proc/self/fd/2', at: '/dev/stderr' },
];

const begin = String.raw`
set -e
umask 022
root=$1 mounts=$2
shift 2
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root"
cd "$root"
`;

// A new network namespace has a loopback that is down. No one program that can raise it is everywhere.
const enter = String.raw`
mount -a -T "$mounts"
ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null ||
  perl -e 'use Socket; socket(S, AF_INET, SOCK_DGRAM, 0); ioctl(S, 0x8914, pack("Z16 s x22", "lo", 0x41)) or exit 1'
hostname sandbox 2>/dev/null || true
mkdir .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old
mount -o remount,bind,ro,nosuid,nodev /
"$@" &
wait "$!"
`;

function relative(at: string): string {
  return at.slice(1);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Mount tables write what would part their fields, or part lines, as octal numbers. */
function escaped(field: string): string {
  return field.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}
