/** Starts that fail say why in a line, and end with a code of their own (docs/protocol.md). */
import { DataDirectoryError, SecretFileError } from '@manyhands/adapter-embedded';
import { ConfigError } from '@manyhands/platform';
import { KeyServiceError, SandboxError, TopicError } from '@manyhands/ports';

export const exitCodes = { error: 1, config: 2, locked: 3, portTaken: 4, damaged: 5, noIsolation: 6 } as const;

export interface Failure {
  exitCode: number;
  message: string;
}

export function describeFailure(error: unknown): Failure {
  if (error instanceof ConfigError) return { exitCode: exitCodes.config, message: error.message };
  if (error instanceof SandboxError && error.code === 'no-isolation') {
    const advice =
      'Install bubblewrap, or start with --unsafe-no-isolation if what the model runs may see this machine.';
    return { exitCode: exitCodes.noIsolation, message: `${error.message}\n${advice}` };
  }
  if (isDiskFull(error)) {
    const advice = 'No space is left on the disk of MANYHANDS_DATA_DIR: make room, then start again.';
    return { exitCode: exitCodes.error, message: `${(error as Error).message}\n${advice}` };
  }
  if (error instanceof DataDirectoryError) {
    const exitCode = error.code === 'locked' ? exitCodes.locked : exitCodes.damaged;
    const advice = 'Stop that process, or choose another MANYHANDS_DATA_DIR (and PORT).';
    return { exitCode, message: error.code === 'locked' ? `${error.message}\n${advice}` : error.message };
  }
  if (error instanceof SecretFileError || error instanceof KeyServiceError)
    return { exitCode: exitCodes.damaged, message: error.message };
  if (error instanceof TopicError && (error.code === 'damaged' || error.code === 'identity-mismatch'))
    return { exitCode: exitCodes.damaged, message: error.message };
  if ((error instanceof TopicError || error instanceof SandboxError) && error.code === 'unavailable')
    return { exitCode: exitCodes.error, message: error.message };
  if (isListenError(error)) {
    return {
      exitCode: exitCodes.portTaken,
      message: `Cannot listen on ${error.address ?? error.hostname ?? ''}${error.port === undefined ? '' : `:${error.port}`}: ${error.code}. Choose another PORT or HOST.`,
    };
  }
  return {
    exitCode: exitCodes.error,
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** Also where the disk was the reason of a reason. SQLite says so in words. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) return true;
  return /no space left|disk .*is full/i.test(error.message) || isDiskFull(error.cause);
}

function isListenError(
  error: unknown,
): error is NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number } {
  return (
    error instanceof Error && 'syscall' in error && (error.syscall === 'listen' || error.syscall === 'getaddrinfo')
  );
}
