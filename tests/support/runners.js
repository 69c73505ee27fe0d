/** Several k6 that make one load: the runners of a bench, or runners that a test starts with its own coordinator. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { K6, ROOT, cleanEnvironment, start } from './k6.js';
import { descendants, until } from './processes.js';

/** @typedef {ReturnType<typeof import('./bench.js').startBench>} Bench */

/** The k6 that makes a part of a bench's load. @param {Bench} bench @param {string} segment such as 0:1/2 */
export const runnerOf = ({ child }, segment) =>
  descendants(Number(child.pid)).find(({ command }) => command.includes(`--execution-segment=${segment} `));

/** Waits until the load of a bench begins, by the log of its first runner. @param {Bench} bench @param {string} name */
export const loadBegins = (bench, name) =>
  until(() => {
    try {
      return /running \((?:0m0[2-9]|0m[1-9])/.test(
        readFileSync(join(bench.folder, 'logs', `${name}.runner-1.k6.log`), 'utf8'),
      );
    } catch {
      return false;
    }
  }, 'the load begins');

/** A runner ran the scenario's own teardown(), and no script threw. @param {Bench} bench */
export function assertTornDown(bench) {
  const logs = bench.files().filter(({ path }) => path.startsWith('logs/'));
  assert.ok(!logs.some(({ name }) => name.includes('cleanup')), 'the clean-up script had to run');
  assert.ok(!logs.some(({ text }) => text.includes('script exception')), 'a script threw');
}

/** A relay without passwords, as an environment has it. @param {string} url */
export const openEntry = (url) => ({ url, auth: { mode: 'none' }, websocket: { auth: 'none' } });

let count = 0;

/**
 * `k6 x coordinate` of pulsar/concurrent for two runners, once it listens.
 * @param {Record<string, string>} variables ENV and PROFILE
 * @param {string[]} [more] arguments, such as --listen
 */
export async function startCoordinator(variables, more = []) {
  count += 1;
  const id = `test-coordinator-${process.pid}-${count}`;
  const env = {
    ...cleanEnvironment(),
    COORDINATOR_TOKEN: 'a-token-of-this-test-alone',
    RUN_ID: id,
    ...variables,
  };
  const asked = [
    '--only',
    'pulsar/concurrent',
    '--runners',
    '2',
    '--listen',
    '127.0.0.1:0',
    '--root',
    ROOT,
    ...more,
  ];
  const coordinator = start(K6, ['x', 'coordinate', ...asked], { env });
  const folder = join(ROOT, 'results', id);
  const remove = () => {
    coordinator.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const url = await until(
      () => /coordinator at (http:\/\/\S+)/.exec(coordinator.output.stdout)?.[1],
      'the coordinator listens',
    );
    return {
      ...coordinator,
      id,
      /** Variables that its runners need. */
      env: { ...env, COORDINATOR_URL: url },
      result: () => JSON.parse(readFileSync(join(folder, 'pulsar-concurrent.json'), 'utf8')),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}
