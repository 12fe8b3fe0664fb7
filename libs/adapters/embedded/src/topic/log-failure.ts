/** What a thread of the log throws and tells the main thread; there it becomes a `TopicError`. */
export type LogFailureCode = 'unavailable' | 'unknown-outcome' | 'out-of-range' | 'damaged' | 'identity-mismatch';

export class LogFailure extends Error {
  override readonly name = 'LogFailure';
  readonly code: LogFailureCode;
  constructor(code: LogFailureCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The statements are right, so it is the tables that are not. */
const logicError = 1;
const corrupt = 11;
const notADatabase = 26;
const full = 13;

/** Translates what SQLite threw. `otherwise` is the code when neither damage nor a full disk explains it. */
export function logFailure(error: unknown, file: string, otherwise: LogFailureCode = 'unavailable'): LogFailure {
  if (error instanceof LogFailure) return error;
  const reason = error instanceof Error ? error.message : String(error);
  switch (primaryCode(error)) {
    case logicError:
    case corrupt:
    case notADatabase:
      return new LogFailure('damaged', `The log ${file} is damaged: ${reason}.`, { cause: error });
    case full:
      // Frames without their commit frame are no transaction: nothing was written.
      return new LogFailure('unavailable', `The disk of the log ${file} is full.`, { cause: error });
    default:
      return new LogFailure(otherwise, `The log ${file} cannot be used: ${reason}.`, { cause: error });
  }
}

/** SQLite's primary result code is the low byte of the extended one. */
function primaryCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : null;
}
