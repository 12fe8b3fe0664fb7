/** What a hand's daemon is told when it is started: one JSON text as its only argument. Paths are those it sees. */
export interface HandConfig {
  session: string;
  hand: string;
  generation: number;
  /** Ed25519 public key that grants are checked with: SPKI, DER, base64url. */
  publicKey: string;
  /** Holds the socket, the journal and the fence; lasts as long as the hand does, and longer. */
  stateDir: string;
  /** Where commands start and relative paths begin. */
  workspace: string;
  /** Further directories that the file tools may reach. */
  roots: string[];
  /** Those of them in which `write` and `edit` change nothing. */
  readOnlyRoots: string[];
  /** Where results that are too long for the model are kept. */
  toolOutputDir: string;
  /** The one way out: a proxy's socket, and the loopback port (0: any) at which commands find it. */
  egress: { socketPath: string; port: number } | null;
  /** With nothing running, how long after the last request the daemon ends itself. */
  idleMs: number;
}

/** Names of the files in `stateDir`. */
export const handSocketName = 'hand.sock';
export const handJournalName = 'journal';
export const handFenceName = 'fence';

export function parseHandConfig(text: string): HandConfig {
  const value = JSON.parse(text) as Record<string, unknown>;
  for (const key of ['session', 'hand', 'publicKey', 'stateDir', 'workspace', 'toolOutputDir'])
    if (typeof value[key] !== 'string') throw new TypeError(`${key} must be a string`);
  for (const key of ['generation', 'idleMs'])
    if (!Number.isSafeInteger(value[key])) throw new TypeError(`${key} must be an integer`);
  for (const key of ['roots', 'readOnlyRoots'])
    if (!Array.isArray(value[key])) throw new TypeError(`${key} must be a list`);
  return value as unknown as HandConfig;
}
