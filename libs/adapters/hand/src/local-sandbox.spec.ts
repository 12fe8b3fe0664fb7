import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LocalSandboxProvider, type Isolation, type LocalSandboxOptions } from '@manyhands/adapter-embedded';
import { silentLogger, type HandRef } from '@manyhands/ports';
import { handContract, sandboxProviderContract } from '@manyhands/ports/testing';
import { HandClients } from './hand-clients.ts';
import { environment, epoch, newExecutionId, newSessionId, textOf, TriedHand } from './testing/tried-hand.ts';

const handBundle = join(import.meta.dirname, '../../../../apps/hand/dist/hand.mjs');
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const clients = new HandClients(privateKey);

const root = mkdtempSync(join(tmpdir(), 'hands-'));
let made = 0;

function options(over: Partial<LocalSandboxOptions> = {}): LocalSandboxOptions {
  const place = join(root, String(++made));
  const egress = join(place, 'egress');
  mkdirSync(egress, { recursive: true });
  return {
    directory: join(place, 'hands'),
    handBundle,
    grantPublicKey: publicKey,
    egressSocketFor: async () => join(egress, 'proxy.sock'),
    releaseEgress: async () => {},
    logger: silentLogger,
    ...over,
  };
}

async function works(isolation: Isolation): Promise<boolean> {
  return LocalSandboxProvider.open(options({ isolation })).then(
    () => true,
    () => false,
  );
}

/** What this machine lets us do; at least one, or the tests would be silent about everything. */
const available: Isolation[] = [];
for (const isolation of ['bubblewrap', 'unshare'] as const) if (await works(isolation)) available.push(isolation);

afterAll(() => rmSync(root, { recursive: true, force: true }));

function hostProcessesOf(directory: string, ref: HandRef): number[] {
  const file = join(directory, ref.sessionId, ref.hand, 'lives', String(ref.generation), 'processes');
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Number(line.split(' ')[0]));
}

/** As the kernel would, out of memory; resolves when nothing of it is left. */
async function killSandbox(directory: string, ref: HandRef): Promise<void> {
  const outer = hostProcessesOf(directory, ref);
  const inner = outer.flatMap((pid) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean),
  );
  const all = [...inner.map(Number), ...outer];
  for (const pid of all) process.kill(pid, 'SIGKILL');
  await expect.poll(() => all.filter(isRunning), { interval: 5, timeout: 5_000 }).toEqual([]);
}

/** The last of a chain of processes that each have started the next. */
function innermostOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const isDaemon = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.endsWith('/node');
  return child === undefined || isDaemon ? pid : innermostOf(Number(child));
}

/** A zombie, whose parent has not heard of its end, does not run. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

it('finds at least one way to isolate', () => {
  expect(available.length).toBeGreaterThan(0);
});

describe.each(available)('%s', (isolation) => {
  const toDestroy: [LocalSandboxProvider, HandRef['sessionId']][] = [];
  const open = (over: Partial<LocalSandboxOptions> = {}) => LocalSandboxProvider.open(options({ isolation, ...over }));

  sandboxProviderContract(`local, ${isolation}`, async () => {
    const chosen = options({ isolation });
    const provider = await LocalSandboxProvider.open(chosen);
    return {
      provider,
      connector: clients,
      environment,
      reopen: () => LocalSandboxProvider.open(chosen),
      newSessionId,
      kill: (ref) => killSandbox(chosen.directory, ref),
      calls: {
        leave: { name: 'write', input: { file_path: 'left', content: 'x' } },
        find: { name: 'read', input: { file_path: 'left' } },
        hang: { name: 'bash', input: { command: 'touch left; sleep 1000' } },
      },
      dispose: async () => {
        for (const sessionId of await provider.list()) await provider.destroy(sessionId);
      },
    };
  });

  handContract(`local sandbox, ${isolation}`, async () => {
    const chosen = options({ isolation });
    const provider = await LocalSandboxProvider.open(chosen);
    const ref: HandRef = { sessionId: newSessionId(), hand: 'main', generation: 1 };
    const { address } = await provider.provision({ ref, environment }, new AbortController().signal);
    const marks = join(chosen.directory, ref.sessionId, ref.hand, 'workspace', 'marks');
    return {
      hand: clients.connect(ref, address),
      reconnect: () => clients.connect(ref, address),
      connectAsGeneration: (generation) => clients.connect({ ...ref, generation }, address),
      calls: {
        mark: { name: 'bash', input: { command: 'echo mark >> /workspace/marks; cat /workspace/marks' } },
        fail: { name: 'bash', input: { command: 'echo mark >> /workspace/marks; false' } },
        hang: { name: 'bash', input: { command: 'echo mark >> /workspace/marks; sleep 1000' } },
      },
      countMarks: async () => (existsSync(marks) ? readFileSync(marks, 'utf8').trim().split('\n').length : 0),
      kill: () => killSandbox(chosen.directory, ref),
      dispose: () => provider.destroy(ref.sessionId),
    };
  });

  describe('sandbox', { timeout: 30_000 }, () => {
    let provider: LocalSandboxProvider;
    let chosen: LocalSandboxOptions;
    let proxy: Server;

    beforeAll(async () => {
      chosen = options({ isolation });
      provider = await LocalSandboxProvider.open(chosen);
      // Not a proxy at all: it shows that bytes arrive, and from where.
      proxy = createServer((socket) =>
        socket.once('data', (bytes) =>
          socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n${bytes.toString()}`),
        ),
      );
      proxy.listen(join(chosen.directory, '../egress/proxy.sock'));
      await once(proxy, 'listening');
      chmodSync(join(chosen.directory, '../egress/proxy.sock'), 0o666);
    });
    afterAll(() => proxy.close());
    afterEach(async () => {
      for (const [owner, sessionId] of toDestroy.splice(0)) await owner.destroy(sessionId);
    });

    const provision = async (over?: Partial<LocalSandboxOptions>): Promise<TriedHand> => {
      const owner = over ? await open(over) : provider;
      const tried = await TriedHand.provision(owner, clients);
      toDestroy.push([owner, tried.ref.sessionId]);
      return tried;
    };

    it('starts one daemon for many who ask at once', async () => {
      const ref: HandRef = { sessionId: newSessionId(), hand: 'main', generation: 1 };
      toDestroy.push([provider, ref.sessionId]);
      const [tried] = await Promise.all(Array.from({ length: 20 }, () => TriedHand.provision(provider, clients, ref)));
      expect(hostProcessesOf(chosen.directory, ref)).toHaveLength(1);
      expect(await tried?.bash('ps -e -o args | grep -c "^[^ ]*node .*hand.mjs"')).toBe('1');
    });

    it('lets one of several daemons of a life stand', async () => {
      const tried = await provision();
      // As a server would that was killed before its launcher had written anything down.
      const life = join(chosen.directory, tried.ref.sessionId, 'main/lives/1');
      const config = JSON.stringify({
        session: tried.ref.sessionId,
        hand: 'main',
        generation: 1,
        publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
        stateDir: join(life, 'run'),
        workspace: root,
        roots: [],
        readOnlyRoots: [],
        toolOutputDir: root,
        egress: null,
        idleMs: 60_000,
      });
      const late = spawn(process.execPath, [handBundle, config], { stdio: 'ignore' });
      const [code] = (await once(late, 'exit')) as [number];
      expect(code).toBe(75);
      expect(await tried.bash('echo still here')).toBe('still here');
    });

    it('keeps the shell between calls', async () => {
      const tried = await provision();
      await tried.bash('cd /tmp; VARIABLE=kept; f() { echo "f: $VARIABLE"; }');
      expect(await tried.bash('pwd; f')).toBe('/tmp\nf: kept');
      expect(await tried.bash('echo $VARIABLE', { restart: true })).toBe('(no output)');
    });

    it('shows a working directory, a home, and places for the session', async () => {
      const tried = await provision();
      expect(await tried.bash('pwd; echo $HOME; id -un; cd; pwd')).toBe('/workspace\n/home/agent\nagent\n/home/agent');
      const tryWrite = `for d in ${writableCandidates}; do touch $d/x 2>/dev/null && echo $d; done; true`;
      expect(await tried.bash(tryWrite)).toBe('/workspace\n/home/agent\n/tmp\n/dev/shm\n/mnt/session/outputs');
    });

    it('has no capability, and cannot get one', async () => {
      const tried = await provision();
      const status = await tried.bash('grep -E "^(CapPrm|CapEff|NoNewPrivs)" /proc/self/status; id -u');
      expect(status).toMatch(/CapPrm:\s+0+\nCapEff:\s+0+\nNoNewPrivs:\s+1\n[1-9]\d*$/);
      await tried.bash('echo planted > /proc/sys/kernel/core_pattern; echo 1 > /proc/sys/vm/overcommit_memory');
      expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).not.toContain('planted');
    });

    it('sees neither the server nor another session', async () => {
      const canary = `canary-${newSessionId()}`;
      const secret = join(chosen.directory, '../secret.txt');
      writeFileSync(secret, canary, { mode: 0o644 });
      const onHost = spawn('/bin/sleep', ['60'], { env: { CANARY: canary }, stdio: 'ignore' });
      const other = await provision();
      await other.bash(
        `echo ${canary} > /workspace/mine; echo ${canary} > /mnt/session/outputs/mine; echo ${canary} > ~/mine; echo ${canary} > /tmp/mine`,
      );
      const tried = await provision();
      // The search itself must not contain what it looks for.
      const [head, tail] = [canary.slice(0, 10), canary.slice(10)];
      const search = [
        `pattern='${head}'; pattern="\${pattern}${tail}"`,
        'grep -rlsI "$pattern" / --exclude-dir=proc --exclude-dir=usr --exclude-dir=sys 2>/dev/null',
        'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n" > /tmp/all; grep -c "$pattern" /tmp/all',
        `cat ${secret} ${chosen.directory}/*/*/workspace/mine 2>&1 | grep -c "No such file"`,
        `ls -d /root /home/* /work /srv ${root} 2>/dev/null`,
        'ls /proc | grep -c "^[0-9]"',
      ].join('\n');
      const found = (await tried.bash(search, { timeout_ms: 25_000 })).split('\n');
      onHost.kill('SIGKILL');
      expect(found.slice(0, 3)).toEqual(['0', '2', '/home/agent']);
      expect(Number(found[3])).toBeLessThan(12);
    });

    it('has no network but the way out', async () => {
      const listening = createServer((socket) => socket.end('reached'));
      listening.listen(0, '0.0.0.0');
      await once(listening, 'listening');
      const { port } = listening.address() as { port: number };
      const tried = await provision();
      const reach = (host: string, at: number) => `(exec 3<>/dev/tcp/${host}/${at}) 2>/dev/null && echo ${host}`;
      const hosts = ['127.0.0.1', '10.0.0.1', '192.168.0.1', '169.254.169.254', '172.17.0.1', '1.1.1.1'];
      const own = Object.values(networkInterfaces())
        .flatMap((all) => all ?? [])
        .filter(({ family }) => family === 'IPv4');
      const tries = [...hosts, ...own.map(({ address }) => address)].map(
        (host) => `timeout 2 bash -c '${reach(host, port)}'`,
      );
      expect(await tried.bash([...tries, 'true'].join('\n'))).toBe('(no output)');
      expect(await tried.bash('cat /proc/net/dev | grep -c :')).toBe('1');
      listening.close();
    });

    it('forwards to the proxy, also to one that was started anew', async () => {
      const tried = await provision();
      const ask =
        'echo $HTTPS_PROXY $http_proxy; exec 3<>/dev/tcp/127.0.0.1/3128; printf "hello there" >&3; cat <&3; exec 3>&-';
      expect(await tried.bash(ask)).toContain('http://127.0.0.1:3128 http://127.0.0.1:3128\nHTTP/1.1 200 OK');
      expect(await tried.bash(ask)).toContain('hello there');
    });

    it('kills everything a command started when its time is over', async () => {
      const tried = await provision();
      const command =
        'echo begun; (while :; do date > /workspace/beat; sleep 0.05; done) & setsid -w bash -c "sleep 1001" & timeout 1000 sleep 1002';
      const late = await tried.bash(command, { timeout_ms: 400 });
      expect(late).toBe('begun\nbash: timed out after 400ms; the shell was restarted');
      expect(
        await tried.bash(
          'pgrep -fc "sleep 100[12]"; ls -la --time-style=full-iso beat > a; sleep 0.2; ls -la --time-style=full-iso beat | cmp - a && echo quiet',
        ),
      ).toBe('0\nquiet');
    });

    it('kills everything of a cancelled command, within a moment', async () => {
      const tried = await provision();
      const executionId = newExecutionId();
      const running = tried.call('bash', { command: 'echo begun; sleep 1003 & sleep 1003' }, executionId);
      await expect
        .poll(() =>
          tried.call('grep', { pattern: 'begun', path: '/workspace' }).then(() => tried.hand.look(epoch, executionId)),
        )
        .toEqual({ state: 'running' });
      const begun = performance.now();
      await tried.hand.cancel(epoch, executionId);
      expect(performance.now() - begun).toBeLessThan(2_000);
      expect(textOf(await running)).toContain('cancelled');
      expect(await tried.bash('pgrep -fc "sleep 1003"')).toBe('0\nexit status 1');
    });

    it('leaves no zombies of processes that lost their parent', async () => {
      const tried = await provision();
      await tried.bash('for i in $(seq 20); do (setsid sleep 0.05 &) ; done; sleep 0.4');
      expect(await tried.bash('ps -e -o stat= | grep -c Z')).toBe('0\nexit status 1');
    });

    it('ends by itself when nobody asks for anything, and keeps journal and workspace', async () => {
      const tried = await provision({ idleMs: 300 });
      const [owner] = toDestroy.at(-1) as [LocalSandboxProvider, never];
      const executionId = newExecutionId();
      const result = await tried.call('bash', { command: 'echo kept > file; sleep 0.8; echo done' }, executionId);
      expect(textOf(result)).toBe('done');
      await expect.poll(() => owner.find(tried.ref), { timeout: 5_000 }).toEqual({ state: 'gone' });
      expect(await owner.journal(tried.ref, executionId)).toEqual(result);
      const next = await TriedHand.provision(owner, clients, { ...tried.ref, generation: 2 });
      expect(await next.bash('cat file')).toBe('kept');
    });

    it('goes on while the server that asked is dead, and tells its next one', async () => {
      const ref: HandRef = { sessionId: newSessionId(), hand: 'main', generation: 1 };
      toDestroy.push([provider, ref.sessionId]);
      const executionId = newExecutionId();
      const server = spawn(
        process.execPath,
        ['--conditions=@manyhands/source', '--input-type=module', '-e', serverScript(chosen, ref, executionId)],
        { stdio: ['ignore', 'pipe', 'inherit'], cwd: import.meta.dirname },
      );
      const workspace = join(chosen.directory, ref.sessionId, 'main/workspace');
      await expect.poll(() => existsSync(join(workspace, 'count')), { timeout: 20_000 }).toBe(true);
      server.kill('SIGKILL');
      await once(server, 'exit');
      const next = await LocalSandboxProvider.open(chosen);
      expect(await next.find(ref)).toMatchObject({ state: 'running' });
      const tried = await TriedHand.provision(next, clients, ref);
      const result = await tried.call('bash', { command: countingCommand }, executionId);
      expect(textOf(result)).toBe('counted');
      expect(readFileSync(join(workspace, 'count'), 'utf8')).toBe('1\n');
    });

    it.each([0, 30, 80, 200])('starts one hand when the server is killed %i ms into a start', async (delayMs) => {
      const ref: HandRef = { sessionId: newSessionId(), hand: 'main', generation: 1 };
      toDestroy.push([provider, ref.sessionId]);
      const executionId = newExecutionId();
      const server = spawn(
        process.execPath,
        ['--conditions=@manyhands/source', '--input-type=module', '-e', serverScript(chosen, ref, executionId)],
        { stdio: ['ignore', 'pipe', 'inherit'], cwd: import.meta.dirname },
      );
      const exited = once(server, 'exit');
      await once(server.stdout, 'data');
      await sleep(delayMs);
      server.kill('SIGKILL');
      await exited;
      // It had not come to its start, or what it started is found: never is there a second one.
      await provider.find(ref);
      const tried = await TriedHand.provision(provider, clients, ref);
      expect(textOf(await tried.call('bash', { command: countingCommand }, executionId))).toBe('counted');
      expect(await tried.bash('cat count; ps -e -o args | grep -c "^[^ ]*node .*hand.mjs"')).toBe('1\n1');
    });

    it('finds a sandbox by a path longer than a socket may have', async () => {
      const deep = join(root, 'd'.repeat(60), 'e'.repeat(60), String(++made));
      const tried = await provision({ directory: join(deep, 'hands') });
      expect(await tried.bash('echo deep')).toBe('deep');
    });

    it('holds a command to its number of processes and size of files', async () => {
      const tried = await provision({ limits: { maxProcesses: 60, maxFileBytes: 1_000_000 } });
      expect(await tried.bash('head -c 2000000 /dev/zero > big; stat -c %s big')).toMatch(/^1000000$/m);
      const many = await tried.bash('for i in $(seq 100); do sleep 5 & done; true', { timeout_ms: 1_500 });
      expect(many).toContain('Resource temporarily unavailable');
    });

    // The kernel chooses whom it ends when the memory is used up; once in a while that is the daemon itself.
    it('holds a sandbox to its memory where the machine lets us', { retry: 3 }, async (context) => {
      const tried = await provision({ limits: { memoryBytes: 300 * 1024 ** 2 } });
      const [owner] = toDestroy.at(-1) as [LocalSandboxProvider, never];
      const life = join(root, String(made), 'hands', tried.ref.sessionId, 'main/lives/1');
      const cgroups = readFileSync(join(life, 'cgroups'), 'utf8').split('\n').filter(Boolean);
      if (cgroups.length === 0) return context.skip();
      const hungry = await tried.call('bash', { command: 'perl -e \'$x = "x" x 600_000_000; print length $x\'' });
      expect(hungry).toMatchObject({ isError: true });
      expect(await tried.bash('echo alive')).toBe('alive');
      await owner.destroy(tried.ref.sessionId);
      expect(cgroups.filter(existsSync)).toEqual([]);
    });

    it('ends a daemon whose directory was removed under it', async () => {
      const tried = await provision();
      const [pid] = hostProcessesOf(chosen.directory, tried.ref) as [number];
      rmSync(join(chosen.directory, tried.ref.sessionId), { recursive: true });
      await expect.poll(() => isRunning(pid), { timeout: 15_000 }).toBe(false);
    });

    it('hides the server where a system folder would show it', async () => {
      const tried = await provision({ hidden: ['/usr/share/doc'] });
      expect(await tried.bash('ls -A /usr/share/doc; touch /usr/share/doc/x 2>&1')).toContain('Read-only');
      expect(await tried.bash('ls -A /usr/share/doc')).toBe('(no output)');
    });

    it('does not follow a journal that leads elsewhere', async () => {
      const secret = join(chosen.directory, '../journal-secret');
      const executionId = newExecutionId();
      writeFileSync(
        secret,
        `${JSON.stringify({ kind: 'finished', id: executionId, at: 1, isError: false, content: [] })}\n`,
      );
      const tried = await provision();
      await tried.bash(`rm /run/hand/journal; ln -s ${secret} /run/hand/journal`);
      expect(await provider.journal(tried.ref, executionId)).toEqual({ state: 'unknown' });
    });

    it('is ended also when its daemon was stopped from inside, with all it has running', async () => {
      const tried = await provision();
      const outer = hostProcessesOf(chosen.directory, tried.ref);
      await tried.bash('sleep 1004 & echo kept > file');
      void tried.bash('kill -STOP $PPID').catch(() => {});
      const [daemon] = outer.flatMap(innermostOf) as [number];
      await expect.poll(() => readFileSync(`/proc/${daemon}/status`, 'utf8')).toMatch(/^State:\s+T/m);
      expect(await provider.find(tried.ref)).toMatchObject({ state: 'running' });
      await provider.end(tried.ref);
      expect([...outer, daemon].filter(isRunning)).toEqual([]);
      expect(await provider.find(tried.ref)).toEqual({ state: 'gone' });
      const next = await TriedHand.provision(provider, clients, { ...tried.ref, generation: 2 });
      expect(await next.bash('cat file; pgrep -fc "sleep 1004"')).toBe('kept\n0\nexit status 1');
    });

    it.each([
      ['removed', 'rm -rf /run/hand/*'],
      ['closed', 'chmod 000 /run/hand/* /run/hand'],
      ['replaced by a directory', 'rm /run/hand/journal; mkdir /run/hand/journal'],
      ['replaced by a pipe', 'rm /run/hand/journal; mkfifo /run/hand/journal'],
    ])('is over when its daemon is killed and its journal %s', async (_, command) => {
      const tried = await provision();
      const executionId = newExecutionId();
      await expect(tried.call('bash', { command: `${command}; kill -9 $PPID` }, executionId)).rejects.toMatchObject({
        code: 'lost',
        neverSent: false,
      });
      expect(await provider.find(tried.ref)).toEqual({ state: 'gone' });
      expect(await provider.journal(tried.ref, executionId)).not.toMatchObject({ state: 'finished' });
      await expect(tried.call('bash', { command: 'true' })).rejects.toMatchObject({ code: 'lost', neverSent: true });
      await provider.destroy(tried.ref.sessionId);
      expect(existsSync(join(chosen.directory, tried.ref.sessionId))).toBe(false);
    });

    it('refuses requests without a grant of this platform', async () => {
      const tried = await provision();
      const stranger = new HandClients(generateKeyPairSync('ed25519').privateKey);
      const status = await provider.find(tried.ref);
      if (status.state !== 'running') throw new Error('the hand is gone');
      await expect(stranger.connect(tried.ref, status.address).fence(epoch)).rejects.toMatchObject({ code: 'refused' });
      const otherSession = { ...tried.ref, sessionId: newSessionId() };
      await expect(clients.connect(otherSession, status.address).fence(epoch)).rejects.toMatchObject({
        code: 'refused',
      });
    });

    it('removes workspaces that resist', async () => {
      const tried = await provision();
      await tried.bash('mkdir -p a/b; touch a/b/c; chmod 000 a/b a; ln -s / loop; mkfifo pipe');
      await tried.bash("perl -e 'for (1..3000) { mkdir q(deep); chdir q(deep) }'");
      await provider.destroy(tried.ref.sessionId);
      expect(existsSync(join(chosen.directory, tried.ref.sessionId))).toBe(false);
    });
  });
});

describe('without isolation', { timeout: 30_000 }, () => {
  it('runs commands as the server, with nothing of its environment', async () => {
    process.env['CANARY'] = 'canary';
    const provider = await LocalSandboxProvider.open(options({ isolation: 'none' }));
    const tried = await TriedHand.provision(provider, clients);
    expect(await tried.bash('env | grep -c canary; id -u; basename $PWD')).toBe(`0\n${process.geteuid?.()}\nworkspace`);
    const [pid] = hostProcessesOf(join(root, String(made), 'hands'), tried.ref) as [number];
    await tried.bash('sleep 996 & echo $! > pid');
    const child = Number(await tried.bash('cat pid'));
    expect(await provider.find(tried.ref)).toMatchObject({ state: 'running' });
    await provider.destroy(tried.ref.sessionId);
    expect([pid, child].filter(isRunning)).toEqual([]);
    expect(await provider.find(tried.ref)).toEqual({ state: 'gone' });
    delete process.env['CANARY'];
  });
});

/** An ordinary user is somebody else to the kernel than root is, and gets a sandbox of another make. */
describe.runIf(canBeNobody())('as an ordinary user', { timeout: 60_000 }, () => {
  it.each(available)('isolates by %s', async (isolation) => {
    const place = mkdtempSync(join(tmpdir(), 'hands-of-nobody-'));
    chownSync(place, nobody, nobody);
    const user = spawn(
      process.execPath,
      ['--conditions=@manyhands/source', '--input-type=module', '-e', userScript(join(place, 'hands'), isolation)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        cwd: import.meta.dirname,
        uid: nobody,
        gid: nobody,
        env: { CANARY: 'canary' },
      },
    );
    const said = JSON.parse(await text(user.stdout)) as Record<string, string>;
    expect(said['identity']).toMatch(/^agent\nCapPrm:\s0+\nCapEff:\s0+\nNoNewPrivs:\s1$/);
    expect(said['writable']).toBe('/workspace /home/agent /tmp /dev/shm /mnt/session/outputs');
    expect(said['processes']).toMatch(/^\d$/);
    expect(said['canaries']).toBe('0');
    expect(said['left']).toBe('[]');
    rmSync(place, { recursive: true });
  });
});

const nobody = 65_534;

function canBeNobody(): boolean {
  if (process.geteuid?.() !== 0) return false;
  const read = `require('node:fs').readFileSync(${JSON.stringify(handBundle)})`;
  return spawnSync(process.execPath, ['-e', read], { uid: 65_534, gid: 65_534, stdio: 'ignore' }).status === 0;
}

function userScript(directory: string, isolation: Isolation): string {
  return `
    import { generateKeyPairSync } from 'node:crypto';
    import { LocalSandboxProvider } from '@manyhands/adapter-embedded';
    import { HandClients } from '@manyhands/adapter-hand';
    import { silentLogger as logger } from '@manyhands/ports';
    import { TriedHand } from ${JSON.stringify(join(import.meta.dirname, 'testing/tried-hand.ts'))};
    import { mkdirSync } from 'node:fs';
    const directory = ${JSON.stringify(directory)};
    mkdirSync(directory + '/egress', { recursive: true });
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const provider = await LocalSandboxProvider.open({
      directory, handBundle: ${JSON.stringify(handBundle)}, isolation: '${isolation}', grantPublicKey: publicKey, logger,
      egressSocketFor: async () => directory + '/egress/s', releaseEgress: async () => {},
    });
    const tried = await TriedHand.provision(provider, new HandClients(privateKey));
    const said = {
      identity: await tried.bash('id -un; grep -E "^(CapPrm|CapEff|NoNewPrivs)" /proc/self/status'),
      writable: await tried.bash('echo $(for d in ${writableCandidates}; do touch $d/x 2>/dev/null && echo $d; done)'),
      processes: await tried.bash('ls /proc | grep -c "^[0-9]"'),
      canaries: await tried.bash('cat /proc/[0-9]*/environ 2>/dev/null | grep -zc canary; true'),
    };
    await provider.destroy(tried.ref.sessionId);
    console.log(JSON.stringify({ ...said, left: JSON.stringify(await provider.list()) }));
    process.exit(0);
  `;
}

const writableCandidates = '/workspace ~ /tmp /dev/shm /mnt/session/outputs /mnt/session/uploads /usr /etc /';
const countingCommand = 'echo $(( $(cat count 2>/dev/null || echo 0) + 1 )) > count; sleep 1.5; echo counted';

/** A server that provisions, starts a command and never comes to hear of its end. */
function serverScript(chosen: LocalSandboxOptions, ref: HandRef, executionId: string): string {
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' });
  return `
    import { createPrivateKey, createPublicKey } from 'node:crypto';
    import { LocalSandboxProvider } from '@manyhands/adapter-embedded';
    import { HandClients } from '@manyhands/adapter-hand';
    import { silentLogger as logger } from '@manyhands/ports';
    const privateKey = createPrivateKey(${JSON.stringify(key)});
    const ref = ${JSON.stringify(ref)};
    const provider = await LocalSandboxProvider.open({
      ...${JSON.stringify({ directory: chosen.directory, handBundle, isolation: chosen.isolation })},
      grantPublicKey: createPublicKey(privateKey),
      egressSocketFor: async () => ${JSON.stringify(join(chosen.directory, '../egress/proxy.sock'))},
      releaseEgress: async () => {},
      logger,
    });
    console.log('open');
    const signal = new AbortController().signal;
    const { address } = await provider.provision({ ref, environment: ${JSON.stringify(environment)} }, signal);
    const request = { executionId: '${executionId}', name: 'bash', input: { command: ${JSON.stringify(countingCommand)} } };
    await new HandClients(privateKey).connect(ref, address).execute(1, request, signal);
  `;
}
