/** The words of a tool result that the platform gave in the tool's place. */
import type { ResultCause } from '@manyhands/protocol';

/** `denyMessage` is what the client said when it denied the call. */
export function resultText(cause: ResultCause, denyMessage: string | null = null): string {
  switch (cause) {
    case 'interrupted':
      return 'Tool execution was interrupted before completion. Please retry.';
    case 'not_enabled':
      return 'This tool is not available to you.';
    case 'denied_by_user':
      return denyMessage === null || denyMessage === ''
        ? 'The user denied this tool call.'
        : `The user denied this tool call: ${denyMessage}`;
    case 'cut_off':
      return 'The answer was cut off before this tool call was complete. It was not executed.';
    case 'invalid_input':
      return 'The input of this tool call is not valid. It was not executed.';
    case 'retries_exhausted':
      return 'The turn was given up before this tool call had a result. It may have been executed in part.';
    case 'sandbox_lost':
      return 'The sandbox was lost while this tool call ran. The command may have been executed in part; later calls run in a new sandbox.';
  }
}
