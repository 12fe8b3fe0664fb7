import type { ToolAnswer } from '@manyhands/ports';

export function textAnswer(text: string, isError = false): ToolAnswer {
  return { isError, content: [{ type: 'text', text }] };
}
