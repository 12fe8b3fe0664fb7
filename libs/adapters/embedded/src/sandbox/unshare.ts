/**
 * The same sandbox with nothing but util-linux: `unshare` for the namespaces and a shell script that puts the root
 * together, enters it and stays as the first process inside, where it reaps what is orphaned.
 */
import { becomeUser } from './bubblewrap.ts';
import { insideId, type SandboxUser } from './sandbox-user.ts';
import type { ViewEntry } from './sandbox-view.ts';

export function unshareCommand(view: ViewEntry[], user: SandboxUser, root: string, command: string[]): string[] {
  return [
    'unshare',
    ...['--mount', '--ipc', '--pid', '--net', '--uts', '--cgroup', '--fork', '--kill-child'],
    ...(user.kind === 'namespaced' ? ['--user', '--map-root-user'] : []),
    ...['--', '/bin/sh', '-c', script(view), 'sandbox', root],
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

function script(view: ViewEntry[]): string {
  return [preamble, ...view.map(entryLine), enter].join('\n');
}

// A mount that comes from a stricter one has to keep its flags, and says no to a remount that leaves one out.
const preamble = String.raw`
set -e
umask 022
root=$1
shift
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root"
place() {
  if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$root$(dirname "$2")"; : >"$root$2"; fi
}
writable() {
  place "$1" "$2"
  mount --bind "$1" "$root$2" 2>/dev/null || mount --rbind "$1" "$root$2"
  mount -o remount,bind,nosuid,nodev "$root$2" 2>/dev/null || true
}
read_only() {
  place "$1" "$2"
  mount --bind "$1" "$root$2" 2>/dev/null || mount --rbind "$1" "$root$2"
  mount -o remount,bind,ro,nosuid,nodev "$root$2" 2>/dev/null ||
    mount -o "remount,bind,$(findmnt -nro VFS-OPTIONS -M "$root$2"),ro" "$root$2"
}
empty() {
  mount -t tmpfs -o ro,nosuid,nodev tmpfs "$root$1"
}
link() {
  ln -s "$1" "$root$2"
}
mkdir "$root/proc" "$root/dev"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
mkdir -m 1777 "$root/dev/shm"
mkdir "$root/dev/pts"
for device in null zero full random urandom tty; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,nosuid,noexec devpts "$root/dev/pts"
link pts/ptmx /dev/ptmx
link /proc/self/fd /dev/fd
link /proc/self/fd/0 /dev/stdin
link /proc/self/fd/1 /dev/stdout
link /proc/self/fd/2 /dev/stderr
`;

// A new network namespace has a loopback that is down. No one program that can raise it is everywhere.
const enter = String.raw`
ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null ||
  perl -e 'use Socket; socket(S, AF_INET, SOCK_DGRAM, 0); ioctl(S, 0x8914, pack("Z16 s x22", "lo", 0x41)) or exit 1'
hostname sandbox 2>/dev/null || true
cd "$root"
mkdir .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old
mount -o remount,bind,ro,nosuid,nodev /
"$@" &
wait "$!"
`;

function entryLine(entry: ViewEntry): string {
  switch (entry.kind) {
    case 'read-only':
      return `read_only ${quoted(entry.from)} ${quoted(entry.at)}`;
    case 'writable':
      return `writable ${quoted(entry.from)} ${quoted(entry.at)}`;
    case 'folder':
      return `mkdir -p "$root"${quoted(entry.at)}`;
    case 'empty':
      return `empty ${quoted(entry.at)}`;
    case 'link':
      return `link ${quoted(entry.to)} ${quoted(entry.at)}`;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
