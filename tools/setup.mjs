// Gets what the tests use beyond node_modules. Quick when all is there, and never fails: what cannot be had is named,
// and the tests that need it skip themselves.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const PYTHON_SDK_VERSION = '2.14.0';

const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'manyhands');

const say = (message) => console.log(`setup: ${message}`);

function run(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: 300_000 });
  const ok = result.status === 0;
  const said = (result.error?.message ?? result.stderr ?? '').trim().split('\n').at(-1);
  return { ok, reason: ok ? '' : said || `${command} ended with ${result.status ?? result.signal}` };
}

/** The local sandbox prefers bubblewrap and falls back on unshare. */
function bubblewrap() {
  if (process.platform !== 'linux') return say('bubblewrap exists on Linux only; sandbox tests will be skipped');
  if (run('bwrap', ['--version']).ok) return say('bubblewrap is there');
  const otherwise = 'going on with unshare';
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return say(`no bubblewrap (Debian: sudo apt-get install bubblewrap); ${otherwise}`);
  }
  const install = () => run('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'bubblewrap']);
  let installed = install();
  if (!installed.ok && run('apt-get', ['update', '-q']).ok) installed = install();
  say(installed.ok ? 'bubblewrap installed' : `bubblewrap could not be installed (${installed.reason}); ${otherwise}`);
}

/** The official Python SDK, one of the black-box clients of the end-to-end tests, in a virtual environment of its own. */
function pythonSdk() {
  const venv = path.join(cache, 'python');
  const python = path.join(venv, 'bin', 'python');
  const stamp = path.join(venv, 'anthropic-version'); // written last, so a half-made environment is made again
  if (existsSync(python) && existsSync(stamp) && readFileSync(stamp, 'utf8') === PYTHON_SDK_VERSION) {
    return say(`Python SDK ${PYTHON_SDK_VERSION} is there`);
  }
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  const skipped = 'its tests will be skipped';
  const made = run('python3', ['-m', 'venv', venv]);
  if (!made.ok) return say(`no Python environment (${made.reason}); ${skipped}`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `anthropic==${PYTHON_SDK_VERSION}`];
  const installed = run(python, pip);
  if (!installed.ok) return say(`Python SDK could not be installed (${installed.reason}); ${skipped}`);
  writeFileSync(stamp, PYTHON_SDK_VERSION);
  say(`Python SDK ${PYTHON_SDK_VERSION} installed`);
}

bubblewrap();
pythonSdk();
