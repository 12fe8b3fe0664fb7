/**
 * Starts a command that outlives this process, and makes sure that whoever comes after this process finds it.
 *
 * The command writes itself down before it becomes what it is to be. So a life whose file of processes is empty has
 * nothing running, except a launcher that has not come that far, and that one looks for the seal afterwards: of a seal
 * and a late launcher, one always sees the other.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { LifeDirectory } from './life-directory.ts';

const launcher = String.raw`
umask 077
processes=$1 seal=$2
shift 2
while [ "$1" != -- ]; do
  echo $$ 2>/dev/null >"$1"
  shift
done
shift
stat=
boot=-
read -r stat 2>/dev/null </proc/self/stat
read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id
start_time() { echo "\${20:--}"; }
after_name=\${stat##*) }
echo "$$ $(start_time $after_name) $boot" >>"$processes" || exit 70
[ -e "$seal" ] && exit 75
exec "$@"
`.replaceAll(String.raw`\$`, '$');

/** The places programs of the system are found at; everything else a sandbox is told explicitly. */
export const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export function launch(life: LifeDirectory, cgroupFiles: string[], command: string[]): ChildProcess {
  const log = openSync(life.log, 'a', 0o600);
  try {
    const parameters = [life.processes, life.seal, ...cgroupFiles, '--', ...command];
    const child = spawn('/bin/sh', ['-c', launcher, 'hand', ...parameters], {
      cwd: '/',
      env: { PATH: path },
      stdio: ['ignore', log, log],
      detached: true,
    });
    child.on('error', () => {}); // No shell: it has an exit code then, and wrote nothing down.
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}
