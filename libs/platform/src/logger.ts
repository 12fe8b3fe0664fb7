/** JSON lines on standard output, one per statement, through the `Logger` port. */
import type { Logger } from '@manyhands/ports';
import { pino, type DestinationStream } from 'pino';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LoggerOptions {
  /** The process: `standalone`, `api`, ... */
  service: string;
  level: LogLevel;
  /** Standard output when absent. */
  destination?: DestinationStream;
}

/** Fields named `error` and `cause` may hold an `Error`; of it, name, message, code and stack are written, nothing else. */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: describeError, cause: describeError },
  };
  const log = destination === undefined ? pino(options) : pino(options, destination);
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  };
}

/** How deep a chain of causes is followed. */
const maxCauses = 4;

/**
 * Errors of libraries carry requests, bodies and headers as properties, and with them secrets (V3). So only the fields
 * that every error has are taken.
 */
export function describeError(error: unknown, depth: number = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : typeof error;
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const deeper = cause === undefined || depth >= maxCauses ? undefined : describeError(cause, depth + 1);
  return { name, message, ...(code && { code }), stack, ...(deeper !== undefined && { cause: deeper }) };
}
