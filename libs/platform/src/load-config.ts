/** Reads a process's settings once, at its start. The schema is the app's; so is the only look at the environment. */
import type { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every setting that is wrong, so that one failed start shows all of them. Values are never repeated: some are secrets. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A variable that is set to the empty string counts as not set, as compose files and shells leave them. */
export function loadConfig<S extends z.ZodType>(schema: S, environment: Environment): z.infer<S> {
  const given = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '');
  const result = schema.safeParse(Object.fromEntries(given));
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.map(describe));
}

function describe(issue: z.core.$ZodIssue): string {
  const name = issue.path.map(String).join('.') || '(environment)';
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return `${name}: is not set`;
  return `${name}: ${issue.message}`;
}
