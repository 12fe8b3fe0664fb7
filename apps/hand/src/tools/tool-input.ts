type FieldType = 'string' | 'boolean' | 'integer' | 'range';

/** The fields a tool's input may have; a name that ends in `?` may be missing. Others are passed over. */
const fields = {
  bash: { 'command?': 'string', 'restart?': 'boolean', 'timeout_ms?': 'integer' },
  read: { file_path: 'string', 'view_range?': 'range' },
  write: { file_path: 'string', content: 'string' },
  edit: { file_path: 'string', old_string: 'string', new_string: 'string', 'replace_all?': 'boolean' },
  glob: { pattern: 'string', 'path?': 'string' },
  grep: { pattern: 'string', 'path?': 'string' },
} satisfies Record<string, Record<string, FieldType>>;

export type HandToolName = keyof typeof fields;
export type FileToolName = Exclude<HandToolName, 'bash'>;

export function isHandTool(name: string): name is HandToolName {
  return Object.hasOwn(fields, name);
}

/** What is wrong with an input, in words for the model; null when nothing is. */
export function inputProblem(name: HandToolName, input: Record<string, unknown>): string | null {
  for (const [field, type] of Object.entries(fields[name]) as [string, FieldType][]) {
    const key = field.replace('?', '');
    const value = input[key];
    if (value === undefined || value === null) {
      if (key === field) return `${name}: ${key} is required`;
    } else if (!hasType(value, type)) {
      return `${name}: ${key} must be ${wording[type]}`;
    }
  }
  return null;
}

const wording: Record<FieldType, string> = {
  string: 'a string',
  boolean: 'a boolean',
  integer: 'an integer',
  range: '[start_line, end_line]',
};

function hasType(value: unknown, type: FieldType): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'range') return Array.isArray(value) && value.every(Number.isSafeInteger);
  return typeof value === type;
}
