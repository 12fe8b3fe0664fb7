import type { HandConfig } from '@manyhands/core';
import type { DaemonParts } from './daemon-command.ts';

type BareParts = Pick<DaemonParts, 'life' | 'bundle' | 'config' | 'egressSocket'>;

/**
 * The daemon as a plain process of the server's user, for machines where nothing else works. It sees every file and the
 * whole network; only the environment is kept from it.
 */
export function bareCommand({ life, bundle, config, egressSocket }: BareParts): string[] {
  const { workspace, home, uploads, outputs, toolOutputs } = life.folders;
  const whole: HandConfig = {
    ...config,
    stateDir: life.run,
    workspace,
    roots: [home, uploads, outputs, toolOutputs],
    readOnlyRoots: [uploads],
    toolOutputDir: toolOutputs,
    // A port of its own: all of them share the machine's loopback.
    egress: { socketPath: egressSocket, port: 0 },
  };
  const environment = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: home,
    TMPDIR: life.tmp,
    LANG: 'C.UTF-8',
  };
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return ['/usr/bin/env', '-i', ...variables, process.execPath, bundle, JSON.stringify(whole)];
}
