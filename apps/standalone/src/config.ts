/** The operator's settings: environment variables and flags, read once. */
import { parseArgs } from 'node:util';
import path from 'node:path';
import { AllowList } from '@manyhands/adapter-egress';
import { z } from 'zod';
import { ConfigError, loadConfig, logLevels } from '@manyhands/platform';

const integer = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(least, `must be at least ${least}`).max(most, `must be at most ${most}`));

const schema = z.object({
  PORT: integer(0, 65_535).default(8787),
  HOST: z.string().default('127.0.0.1'),
  MANYHANDS_DATA_DIR: z.string().default('.manyhands'),
  MANYHANDS_API_KEY: z
    .string()
    .min(16, 'must have at least 16 characters')
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  ANTHROPIC_BASE_URL: z.url({ protocol: /^https?$/, message: 'must be an http or https URL' }).optional(),
  MANYHANDS_DEMO_MODEL: z.string().default('claude-sonnet-5'),
  MANYHANDS_LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  MANYHANDS_MAX_RUNNING_SESSIONS: integer(1, 100_000).default(1_000),
  MANYHANDS_MAX_OPEN_STREAMS: integer(1, 100_000).default(10_000),
  MANYHANDS_DRAIN_SECONDS: integer(1, 3_600).default(25),
  MANYHANDS_HAND_IDLE_SECONDS: integer(1, 86_400).default(600),
  MANYHANDS_TAKEOVER_LIMIT: integer(1, 1_000_000).default(6),
  MANYHANDS_TAKEOVER_SECOND_WAIT_MS: integer(0, 3_600_000).default(5_000),
  MANYHANDS_TAKEOVER_LATER_WAIT_MS: integer(0, 3_600_000).default(30_000),
  MANYHANDS_MODEL_SILENCE_MS: integer(100, 3_600_000).default(60_000),
  MANYHANDS_EGRESS_ALLOW: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    )
    .superRefine((entries, ctx) => {
      const wrong = entries.filter((entry) => !AllowList.accepts(entry));
      if (wrong.length > 0) ctx.addIssue(`has no host, host:port, address or CIDR in: ${wrong.join(', ')}`);
    }),
});

const flags = {
  help: { type: 'boolean', short: 'h' },
  demo: { type: 'boolean' },
  'unsafe-no-isolation': { type: 'boolean' },
} as const;

export interface Config {
  port: number;
  host: string;
  dataDirectory: string;
  apiKey: string | null;
  model: { apiKey: string; baseUrl: string | undefined } | null;
  logLevel: (typeof logLevels)[number];
  maxRunningSessions: number;
  maxOpenStreams: number;
  drainMs: number;
  handIdleMs: number;
  takeover: { giveUpAt: number; secondWaitMs: number; laterWaitMs: number };
  modelSilenceMs: number;
  egressAllow: string[];
  unsafeNoIsolation: boolean;
  /** Play the demonstration, then end. */
  demoOnly: boolean;
  /** The model of the demonstration where there is a real one. */
  demoModel: string;
  /** Variables that look like settings and are none: most often misspelled. */
  unknownSettings: string[];
}

export const usage = `Manyhands, standalone: log, harness, sandboxes and API in one process.

  npm start              run the server
  npm run demo           play one demonstration session, then end
  npm start -- --help    this text

Flags
  --demo                 play the demonstration, then end
  --unsafe-no-isolation  run tools without a sandbox where none can be made; anything the model runs sees this machine

Environment
  PORT (8787), HOST (127.0.0.1)            where to listen
  MANYHANDS_DATA_DIR (.manyhands)          everything that is kept
  MANYHANDS_API_KEY                        the key clients send; made and printed at the first start when absent
  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL    the model; without a key a scripted model answers
  MANYHANDS_DEMO_MODEL (claude-sonnet-5)   the model of --demo where ANTHROPIC_API_KEY is set
  MANYHANDS_LOG_LEVEL (info)               ${logLevels.join(', ')}
  MANYHANDS_MAX_RUNNING_SESSIONS (1000)    sessions that run at once; more wait
  MANYHANDS_MAX_OPEN_STREAMS (10000)       open event streams
  MANYHANDS_DRAIN_SECONDS (25)             time for open model streams after SIGTERM
  MANYHANDS_HAND_IDLE_SECONDS (600)        an idle sandbox ends after this; its workspace stays
  MANYHANDS_TAKEOVER_LIMIT (6)             takeovers without a result before a turn is given up
  MANYHANDS_TAKEOVER_SECOND_WAIT_MS (5000), MANYHANDS_TAKEOVER_LATER_WAIT_MS (30000)
                                           how long the second and every later takeover waits
  MANYHANDS_MODEL_SILENCE_MS (60000)       a model stream without a byte for this long is cut
  MANYHANDS_EGRESS_ALLOW                   host:port, address or CIDR, separated by commas: private addresses that
                                           sandboxes and web_fetch may reach all the same
`;

/** Throws `ConfigError` with every bad key; null when help was asked for. */
export function readConfig(
  args: readonly string[] = process.argv.slice(2),
  environment: NodeJS.ProcessEnv = process.env,
): Config | null {
  const { values } = parseFlags(args);
  if (values.help) return null;
  const env = loadConfig(schema, environment);
  const model = env.ANTHROPIC_API_KEY ? { apiKey: env.ANTHROPIC_API_KEY, baseUrl: env.ANTHROPIC_BASE_URL } : null;
  return {
    port: env.PORT,
    host: env.HOST,
    dataDirectory: path.resolve(env.MANYHANDS_DATA_DIR),
    apiKey: env.MANYHANDS_API_KEY ?? null,
    model,
    logLevel: env.MANYHANDS_LOG_LEVEL,
    maxRunningSessions: env.MANYHANDS_MAX_RUNNING_SESSIONS,
    maxOpenStreams: env.MANYHANDS_MAX_OPEN_STREAMS,
    drainMs: env.MANYHANDS_DRAIN_SECONDS * 1_000,
    handIdleMs: env.MANYHANDS_HAND_IDLE_SECONDS * 1_000,
    takeover: {
      giveUpAt: env.MANYHANDS_TAKEOVER_LIMIT,
      secondWaitMs: env.MANYHANDS_TAKEOVER_SECOND_WAIT_MS,
      laterWaitMs: env.MANYHANDS_TAKEOVER_LATER_WAIT_MS,
    },
    modelSilenceMs: env.MANYHANDS_MODEL_SILENCE_MS,
    egressAllow: env.MANYHANDS_EGRESS_ALLOW,
    unsafeNoIsolation: values['unsafe-no-isolation'] ?? false,
    demoOnly: values.demo ?? false,
    demoModel: env.MANYHANDS_DEMO_MODEL,
    unknownSettings: Object.keys(environment).filter(
      (name) => name.startsWith('MANYHANDS_') && !(name in schema.shape),
    ),
  };
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, strict: true, allowPositionals: false });
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
}
