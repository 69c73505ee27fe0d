/** Runs one test in the copy, and judges how it ended. */
import { spawn } from 'node:child_process';
import { BUSY } from '../support/others.js';
import { isOf } from '../tiers.js';

/**
 * A test: `go` is a package of k6/, `rust` the sidecar's own unit tests or a program of sidecar/tests, `js` a file under Node.js. `name` picks
 * some of its tests.
 * @typedef {{ go: string, name?: string } | { rust: string, name: string } | { js: string, name?: string }} Test
 *
 * @typedef {'passed' | 'failed' | 'busy' | 'broken'} End of a test: busy if the machine was busy, broken if the test could not be built
 *   or started
 * @typedef {{ end: End, why: string, seconds: number }} Tried
 */

/** A test that a fault makes wait for ever has found the fault. */
const LIMIT_S = 400;
/** Name of the Rust tests beside the code. */
export const UNIT = 'unit';
/** Lines of an output that says why. */
const TOLD = 12;

/** @param {Test} test */
export function titleOf(test) {
  const name = test.name ? ` ${test.name}` : '';
  if ('go' in test) return `go ${test.go}${name}`;
  return 'rust' in test ? `rust ${test.rust}${name}` : `${test.js}${name && `:${name}`}`;
}

/** Go and Rust have their tests in the first tier. @param {Test} test */
export const tierOf = (test) => (!('js' in test) || isOf('first', test.js) ? 'make test' : 'make test-all');

/** @param {Test} test @returns {{ command: string[], within: string }} */
function commandOf(test) {
  if ('go' in test) {
    const only = test.name ? ['-run', test.name] : [];
    return { command: ['go', 'test', '-v', '-count=1', '-trimpath', ...only, `./${test.go}`], within: 'k6' };
  }
  if ('rust' in test) {
    const flags = (process.env.RUST_TESTS ?? '').split(' ').filter(Boolean);
    const which = test.rust === UNIT ? ['--bins'] : ['--test', test.rust];
    return { command: ['cargo', 'test', ...flags, ...which, test.name], within: 'sidecar' };
  }
  const only = test.name ? ['--name', test.name] : [];
  const run = ['node', '--import', './tests/fakes/register.js', 'tests/run.js', ...only, test.js];
  return { command: run, within: '.' };
}

/** The end of tests in Go and Rust that have not failed. @param {string} output @returns {End} */
const unlessBusy = (output) => (output.includes(`${BUSY} (`) ? 'busy' : 'passed');

/** @param {number | null} code @param {string} output @returns {End} */
function endOfGo(code, output) {
  if (/\[(build|setup) failed\]/.test(output)) return 'broken';
  if (code === 0) return output.includes('no tests to run') ? 'broken' : unlessBusy(output);
  return /^(--- FAIL|panic:|FAIL\t)/m.test(output) ? 'failed' : 'broken';
}

/** @param {number | null} code @param {string} output @returns {End} */
function endOfRust(code, output) {
  if (output.includes('could not compile')) return 'broken';
  if (code === 0) return /test result: ok\. [1-9]/.test(output) ? unlessBusy(output) : 'broken';
  return /test result: FAILED|process abort signal/.test(output) ? 'failed' : 'broken';
}

/** @param {number | null} code @param {string} output @returns {End} */
function endOfScripts(code, output) {
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(output) ?? [];
  if (Number(failed) > 0) return 'failed';
  if (/^skipped: .*the machine was busy/m.test(output)) return 'busy';
  return code === 0 && Number(passed) > 0 ? 'passed' : 'broken';
}

/** @param {Test} test @param {number | null} code @param {string} output */
export function endOf(test, code, output) {
  if ('go' in test) return endOfGo(code, output);
  return 'rust' in test ? endOfRust(code, output) : endOfScripts(code, output);
}

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** @param {import('node:child_process').ChildProcess} child */
function killGroup({ pid }) {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

export const killRunning = () => running.forEach(killGroup);

/**
 * @param {string[]} command
 * @param {string} cwd
 * @param {Record<string, string>} env
 * @returns {Promise<{ code: number | null, output: string, late: boolean, seconds: number }>}
 */
export function started([program, ...args], cwd, env) {
  const began = Date.now();
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  let output = '';
  let late = false;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const timer = setTimeout(() => {
    late = true;
    killGroup(child);
  }, LIMIT_S * 1000);
  return new Promise((resolve) => {
    const end = (/** @type {number | null} */ code) => {
      clearTimeout(timer);
      running.delete(child);
      killGroup(child);
      resolve({ code, output, late, seconds: (Date.now() - began) / 1000 });
    };
    child.on('error', (error) => {
      output += String(error);
      end(null);
    });
    // A process that the test left may hold its output open.
    child.on('exit', (code) => setTimeout(end, 100, code));
  });
}

/** @param {Test} test @param {import('./copy.js').Copy} copy @returns {Promise<Tried>} */
export async function tried(test, copy) {
  const { command, within } = commandOf(test);
  const env = { TMPDIR: copy.temporary, MUTANTS: copy.folder };
  const { code, output, late, seconds } = await started(command, `${copy.root}/${within}`, env);
  const end = late ? 'failed' : endOf(test, code, output);
  return { end, why: output.trim().split('\n').slice(-TOLD).join('\n'), seconds };
}
