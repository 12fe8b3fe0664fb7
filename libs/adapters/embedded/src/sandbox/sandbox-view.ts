/** What a sandbox sees: everything that is there is named here, and nothing else is. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { HandConfig } from '@manyhands/core';
import { insideId, type SandboxUser } from './sandbox-user.ts';
import type { LifeDirectory } from './life-directory.ts';

/** In this order. `empty` covers what a mount before it has brought along. */
export type ViewEntry =
  | { kind: 'read-only' | 'writable'; from: string; at: string }
  | { kind: 'folder' | 'empty'; at: string }
  | { kind: 'link'; to: string; at: string };

export const inside = {
  run: '/run/hand',
  egress: '/run/egress',
  home: '/home/agent',
  workspace: '/workspace',
  session: '/mnt/session',
  uploads: '/mnt/session/uploads',
  toolOutputs: '/mnt/session/tool-outputs',
  bin: '/opt/manyhands/bin',
  node: '/opt/manyhands/bin/node',
  bundle: '/opt/manyhands/hand.mjs',
} as const;

/** The port at which commands find the way out: the sandbox has a loopback of its own. */
export const egressPort = 3128;

const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/**
 * What programs need of `/etc` to find libraries, trust certificates and tell the time: folders are shown, files copied.
 * None that may hold a credential.
 */
const etcFolders = [
  'alternatives',
  'ca-certificates',
  'fonts',
  'ld.so.conf.d',
  'pki/ca-trust',
  'pki/tls/certs',
  'ssl/certs',
];
const etcFiles = [
  'ld.so.cache',
  'ld.so.conf',
  'localtime',
  'magic',
  'mime.types',
  'protocols',
  'services',
  'ssl/openssl.cnf',
  'timezone',
];

export interface ViewParts {
  life: LifeDirectory;
  user: SandboxUser;
  bundle: string;
  /** The directory of the egress proxy's socket. */
  egressFolder: string;
  /** Paths of the server that must not be seen, should a system folder hold them. */
  hidden: string[];
  /** Further paths of the machine that may be seen. */
  shown: string[];
}

export function sandboxView(parts: ViewParts): ViewEntry[] {
  const entries = viewEntries(parts);
  // Named one by one, because folders that appear of themselves are closed to everybody but root.
  const parents = new Set(entries.flatMap(({ at }) => ancestors(at).reverse()).filter((path) => path !== '/'));
  const given = entries.filter(({ kind }) => kind !== 'empty').map(({ at }) => at);
  const missing = [...parents].filter((path) => !isBelow(path, given));
  return [...missing.map(folder), ...entries];
}

function viewEntries(parts: ViewParts): ViewEntry[] {
  const { life, user } = parts;
  const { workspace, home, uploads, outputs, toolOutputs } = life.folders;
  return [
    ...systemFolders.flatMap(systemFolder),
    ...parts.shown.filter(existsSync).map((path) => readOnly(path, path)),
    ...parts.hidden.filter(isShownBy([...systemFolders, ...parts.shown])).map(empty),
    readOnly(makeEtc(life, user), '/etc'),
    ...etcFolders
      .map((name) => `/etc/${name}`)
      .filter(existsSync)
      .map((path) => readOnly(path, path)),
    writable(life.tmp, '/tmp'),
    { kind: 'link', to: '/tmp', at: '/var/tmp' },
    writable(home, inside.home),
    writable(workspace, inside.workspace),
    writable(outputs, `${inside.session}/outputs`),
    writable(toolOutputs, inside.toolOutputs),
    readOnly(uploads, inside.uploads),
    writable(life.run, inside.run),
    readOnly(parts.egressFolder, inside.egress),
    readOnly(realpathSync(process.execPath), inside.node),
    readOnly(parts.bundle, inside.bundle),
  ];
}

/** The daemon's configuration in the words of the sandbox. */
export function insideConfig(egressSocket: string): Omit<HandConfig, keyof LifeOfConfig> {
  return {
    stateDir: inside.run,
    workspace: inside.workspace,
    roots: [inside.session, '/tmp', inside.home],
    readOnlyRoots: [inside.uploads],
    toolOutputDir: inside.toolOutputs,
    egress: { socketPath: join(inside.egress, basename(egressSocket)), port: egressPort },
  };
}

export type LifeOfConfig = Pick<HandConfig, 'session' | 'hand' | 'generation' | 'publicKey' | 'idleMs'>;

/** All the environment there is in a sandbox. */
export function insideEnvironment(): Record<string, string> {
  const path = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin', inside.bin];
  return {
    PATH: [`${inside.home}/.local/bin`, ...path].join(':'),
    HOME: inside.home,
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
  };
}

function systemFolder(path: string): ViewEntry[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return [{ kind: 'link', to: readlinkSync(path), at: path }];
  return found?.isDirectory() ? [readOnly(path, path)] : [];
}

/** The machine's own lists of users and names say too much about it. */
function makeEtc({ etc }: LifeDirectory, user: SandboxUser): string {
  const id = user.kind === 'own' ? user.uid : insideId;
  const written = {
    passwd: `root:x:0:0::/:/usr/sbin/nologin\nagent:x:${id}:${id}::${inside.home}:/bin/bash\n`,
    group: `root:x:0:\nagent:x:${id}:\n`,
    hosts: '127.0.0.1 localhost sandbox\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  };
  mkdirSync(etc, { recursive: true });
  for (const name of etcFolders) mkdirSync(join(etc, name), { recursive: true });
  for (const name of etcFiles) if (existsSync(join('/etc', name))) copyFileSync(join('/etc', name), join(etc, name));
  for (const [name, text] of Object.entries(written)) writeFileSync(join(etc, name), text);
  // Whatever this process gives to new files, those inside are for everybody.
  for (const entry of readdirSync(etc, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  chmodSync(etc, 0o755);
  return etc;
}

function isShownBy(folders: string[]): (path: string) => boolean {
  return (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && isBelow(path, folders);
}

/** Whether one of the folders is this path or holds it. */
function isBelow(path: string, folders: string[]): boolean {
  return folders.some((holder) => holder === path || ancestors(path).includes(holder));
}

/** Nearest first, the root included. */
function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestors(parent)];
}

function readOnly(from: string, at: string): ViewEntry {
  return { kind: 'read-only', from, at };
}

function writable(from: string, at: string): ViewEntry {
  return { kind: 'writable', from, at };
}

function folder(at: string): ViewEntry {
  return { kind: 'folder', at };
}

function empty(at: string): ViewEntry {
  return { kind: 'empty', at };
}
