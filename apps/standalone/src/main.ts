/** Starts everything, says so, and waits for the signal to stop. */
import 'reflect-metadata';
import { createLogger, shutDown, untilStopSignal } from '@manyhands/platform';
import { readConfig, usage, type Config } from './config.ts';
import { playDemo, sdkExample } from './demo.ts';
import { describeFailure } from './failure.ts';
import { startServer, type Server } from './server.ts';

const scriptedModel = 'scripted-1';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function greet(server: Server, config: Config): void {
  print(`Manyhands is ready at ${server.baseUrl}`);
  if (!isLoopback(config.host))
    print('It can be reached from other machines, over plain HTTP: put TLS in front of it.');
  print(`Data: ${config.dataDirectory}`);
  if (server.apiKey.created) print(`API key, made just now: ${server.apiKey.key}`);
  if (server.apiKey.file) print(`The API key is in ${server.apiKey.file}`);
  if (config.model) print(`Model: ${config.model.baseUrl ?? 'https://api.anthropic.com'}`);
  else
    print(
      'Model: none. ANTHROPIC_API_KEY is not set, so a scripted model answers; it can use the sandbox, but it does not think.',
    );
  for (const name of config.unknownSettings) print(`Warning: ${name} is set but is no setting; see --help.`);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

async function demonstrate(server: Server, config: Config): Promise<void> {
  const model = config.model ? config.demoModel : scriptedModel;
  const api = { baseUrl: server.baseUrl, apiKey: server.apiKey.key };
  const plays = !config.model || config.demoOnly;
  if (plays) {
    print('\nA demonstration:\n');
    await playDemo(api, model, print);
  }
  const what = plays ? 'The same' : 'A session';
  print(`\n${what} from the official SDK (npm install @anthropic-ai/sdk):\n\n${sdkExample(api, model)}\n`);
}

async function run(config: Config): Promise<number> {
  // Logs go to standard error, so that what a person reads stays readable.
  const logger = createLogger({ service: 'standalone', level: config.logLevel, destination: process.stderr });
  const server = await startServer(config, logger);
  const stopped = untilStopSignal();
  greet(server, config);
  let exitCode = 0;
  if (server.isNew || config.demoOnly) {
    try {
      await demonstrate(server, config);
    } catch (error) {
      logger.error({ error }, 'the demonstration failed');
      exitCode = config.demoOnly ? 1 : 0;
    }
  }
  if (!config.demoOnly) {
    await stopped;
    print('Stopping: open model streams may finish, a second signal ends at once.');
  }
  return Math.max(await shutDown(server.shutdown, logger), exitCode);
}

// Whoever reads what is printed may go; the server does not.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  const config = readConfig();
  if (config === null) print(usage);
  process.exit(config === null ? 0 : await run(config));
} catch (error) {
  const { exitCode, message } = describeFailure(error);
  process.stderr.write(`manyhands: ${message}\n`);
  process.exit(exitCode);
}
