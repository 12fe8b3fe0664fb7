/** The command line that starts a hand's daemon in its sandbox. */
import { dirname } from 'node:path';
import type { HandConfig } from '@manyhands/core';
import { bubblewrapCommand } from './bubblewrap.ts';
import { bareCommand } from './bare-command.ts';
import type { LifeDirectory } from './life-directory.ts';
import { limitCommand, type SandboxLimits } from './limits.ts';
import type { SandboxUser } from './sandbox-user.ts';
import { inside, insideConfig, insideEnvironment, sandboxView, type LifeOfConfig } from './sandbox-view.ts';
import { unshareCommand } from './unshare.ts';

/** `none`: a process of the server's user like any other. */
export type Isolation = 'bubblewrap' | 'unshare' | 'none';

export interface DaemonParts {
  life: LifeDirectory;
  user: SandboxUser;
  config: LifeOfConfig;
  egressSocket: string;
  bundle: string;
  limits: SandboxLimits;
  hidden: string[];
  shown: string[];
}

export function daemonCommand(isolation: Isolation, parts: DaemonParts): string[] {
  if (isolation === 'none') return bareCommand(parts);
  const config: HandConfig = { ...parts.config, ...insideConfig(parts.egressSocket) };
  const variables = Object.entries(insideEnvironment()).map(([name, value]) => `${name}=${value}`);
  const daemon = ['/usr/bin/env', '-i', ...variables, inside.node, inside.bundle, JSON.stringify(config)];
  return isolatedCommand(isolation, parts, daemon);
}

/** Any command in such a sandbox. */
export function isolatedCommand(
  isolation: Exclude<Isolation, 'none'>,
  parts: Omit<DaemonParts, 'config'>,
  command: string[],
): string[] {
  const { life, user, limits } = parts;
  const view = sandboxView({ ...parts, egressFolder: dirname(parts.egressSocket) });
  const limited = [...limitCommand(limits), ...command];
  if (isolation === 'bubblewrap') return bubblewrapCommand(view, user, limited);
  return unshareCommand(view, user, life, limited);
}
