import { egressErrorCodes, type EgressErrorCode } from './egress-error.ts';

/** Counted since the start, over all sessions, for the metrics. */
export interface EgressCounters {
  allowed: number;
  /** What was refused or failed, by reason. */
  refused: Record<EgressErrorCode, number>;
  /** Closed without an answer, because the session had far too many connections. */
  droppedConnections: number;
}

export function newCounters(): EgressCounters {
  const refused = Object.fromEntries(egressErrorCodes.map((code) => [code, 0])) as EgressCounters['refused'];
  return { allowed: 0, refused, droppedConnections: 0 };
}
