import { expect, it } from 'vitest';
import { inputProblem, isHandTool, type HandToolName } from './tool-input.ts';

it.each<[HandToolName, Record<string, unknown>, string | null]>([
  ['bash', { restart: true }, null],
  ['bash', { command: 'ls', timeout_ms: null, unknown: 1 }, null],
  ['bash', { command: ['ls'] }, 'bash: command must be a string'],
  ['bash', { command: 'ls', timeout_ms: 1.5 }, 'bash: timeout_ms must be an integer'],
  ['read', {}, 'read: file_path is required'],
  ['read', { file_path: 'f', view_range: [1, 2] }, null],
  ['read', { file_path: 'f', view_range: '1-2' }, 'read: view_range must be [start_line, end_line]'],
  ['write', { file_path: 'f' }, 'write: content is required'],
  [
    'edit',
    { file_path: 'f', old_string: 'a', new_string: 'b', replace_all: 'yes' },
    'edit: replace_all must be a boolean',
  ],
])('%s with %j: %s', (name, input, problem) => {
  expect(inputProblem(name, input)).toBe(problem);
});

it('knows the tools of a sandbox, and no others', () => {
  expect(['bash', 'read', 'write', 'edit', 'glob', 'grep'].every(isHandTool)).toBe(true);
  expect(['web_fetch', 'toString', ''].some(isHandTool)).toBe(false);
});
