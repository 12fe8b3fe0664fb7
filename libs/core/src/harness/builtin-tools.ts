/** What the model is told of each built-in tool; part of every prompt's cached beginning, so changed with care. */
import type { BuiltinToolName } from '@manyhands/protocol';
import type { OfferedTool } from './tools.ts';

const filePath = { type: 'string', description: 'Path of the file; relative paths start at /workspace.' };
const inFolder = { type: 'string', description: 'Folder to search in; /workspace when omitted.' };

export const builtinTools: Readonly<Record<BuiltinToolName, OfferedTool>> = {
  bash: tool(
    'bash',
    'Run a command in a persistent bash shell of the sandbox. Working directory, variables and background jobs stay between calls. Standard output and error come back merged; long output is cut to its end.',
    {
      command: { type: 'string', description: 'The command to run; may be omitted only with restart.' },
      restart: { type: 'boolean', description: 'Start a new shell.' },
      timeout_ms: { type: 'integer', description: 'Time limit in milliseconds; 120000 when omitted.' },
    },
    [],
  ),
  read: tool(
    'read',
    'Read a text file of the sandbox.',
    {
      file_path: filePath,
      view_range: {
        type: 'array',
        items: { type: 'integer' },
        description: 'First and last line to show, counted from 1.',
      },
    },
    ['file_path'],
  ),
  write: tool(
    'write',
    'Write a file of the sandbox, with its folders; an existing file is replaced.',
    { file_path: filePath, content: { type: 'string' } },
    ['file_path', 'content'],
  ),
  edit: tool(
    'edit',
    'Replace text in a file of the sandbox. old_string must occur exactly once unless replace_all is set.',
    {
      file_path: filePath,
      old_string: { type: 'string' },
      new_string: { type: 'string' },
      replace_all: { type: 'boolean' },
    },
    ['file_path', 'old_string', 'new_string'],
  ),
  glob: tool(
    'glob',
    'List files of the sandbox that match a pattern such as **/*.ts, newest first.',
    { pattern: { type: 'string' }, path: inFolder },
    ['pattern'],
  ),
  grep: tool(
    'grep',
    'Search file contents of the sandbox with a regular expression; answers path, line number and line.',
    { pattern: { type: 'string' }, path: inFolder },
    ['pattern'],
  ),
  web_fetch: tool(
    'web_fetch',
    'Fetch a web page and return it as text.',
    { url: { type: 'string', description: 'An http or https URL.' } },
    ['url'],
  ),
  web_search: tool('web_search', 'Search the web.', { query: { type: 'string' } }, ['query']),
};

function tool(
  name: BuiltinToolName,
  description: string,
  properties: Record<string, unknown>,
  required: string[],
): OfferedTool {
  return { name, description, input_schema: { type: 'object', properties, required } };
}

/** What the system prompt adds for an agent that has a sandbox. */
export const sandboxNote =
  'Your file tools and bash run in a sandbox of this session. Its working directory is /workspace; files there stay until the session is deleted. Write results meant for the user to /mnt/session/outputs.';

/** A summary request ends with this; the answer's text is the summary. */
export const compactionPrompt =
  'The conversation has become too long to go on with. Write a summary from which you can continue without it: the task and what the user wants, decisions and facts that matter, files and their state, what is done and what comes next. Do not call tools. Put it between <summary> and </summary>.';

/** The summary within a compaction answer, or null when there is none. */
export function summaryOf(text: string): string | null {
  const start = text.indexOf('<summary>');
  const from = start === -1 ? 0 : start + '<summary>'.length;
  const end = text.indexOf('</summary>', from);
  const summary = text.slice(from, end === -1 ? undefined : end).trim();
  return summary === '' ? null : summary;
}
