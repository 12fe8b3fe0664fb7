/** Programs that a test lets the model run in its sandbox, to see what can be reached from inside. */
import { textOf, type Conversation } from './conversation.ts';

export interface Target {
  host: string;
  port: number;
}

export interface Reached {
  host: string;
  port: number;
  way: 'direct' | 'connect' | 'get';
  /** First line and beginning of what came back, or the error. */
  answer: string;
}

/** Runs one command in the sandbox; what it printed. */
export async function runInSandbox(conversation: Conversation, command: string): Promise<string> {
  const before = (await conversation.ofType('agent.tool_result')).length;
  await conversation.play([[{ tool: 'bash', input: { command } }], [{ text: 'Done.' }]]);
  return textOf((await conversation.ofType('agent.tool_result'))[before] as object);
}

/** Tries to reach each target by itself, and in both forms through the sandbox's proxy. */
export async function probe(conversation: Conversation, targets: readonly Target[]): Promise<Reached[]> {
  const write = { tool: 'write', input: { file_path: 'probe.mjs', content: program } };
  const run = { tool: 'bash', input: { command: `node probe.mjs '${JSON.stringify(targets)}'` } };
  await conversation.play([[write], [run], [{ text: 'Done.' }]]);
  const printed = textOf((await conversation.ofType('agent.tool_result')).at(-1) as object);
  return JSON.parse(printed) as Reached[];
}

/** Node is part of every sandbox, so the program needs nothing else of the machine. */
const program = `
import net from 'node:net';

const proxy = new URL(process.env.HTTP_PROXY);
const bracketed = (host) => (host.includes(':') ? '[' + host + ']' : host);

function talk(host, port, text) {
  return new Promise((resolve) => {
    let answer = '';
    const socket = net.connect({ host, port, timeout: 5000 }, () => socket.write(text));
    const end = (last) => {
      socket.destroy();
      resolve((answer || last).slice(0, 400));
    };
    socket.on('data', (chunk) => {
      answer += chunk;
      if (answer.length >= 400 || text.startsWith('CONNECT')) end('');
    });
    socket.on('error', (error) => end(error.code));
    socket.on('timeout', () => end('timeout'));
    socket.on('end', () => end('closed'));
  });
}

const found = [];
for (const { host, port } of JSON.parse(process.argv[2])) {
  const name = bracketed(host) + ':' + port;
  const get = (path) => 'GET ' + path + ' HTTP/1.1\\r\\nHost: ' + name + '\\r\\nConnection: close\\r\\n\\r\\n';
  const note = async (way, answer) => found.push({ host, port, way, answer: await answer });
  await note('direct', talk(host, port, get('/')));
  await note('connect', talk(proxy.hostname, proxy.port, 'CONNECT ' + name + ' HTTP/1.1\\r\\nHost: ' + name + '\\r\\n\\r\\n'));
  await note('get', talk(proxy.hostname, proxy.port, get('http://' + name + '/')));
}
console.log(JSON.stringify(found));
`;
