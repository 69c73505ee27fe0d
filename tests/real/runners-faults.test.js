/** Faults between runners and their coordinator, with real processes of both. docs/how-to/runners.md has the consequences. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { startBetween } from '../support/between.js';
import { SETUP } from '../support/exit-codes.js';
import { K6, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { killTree, until } from '../support/processes.js';
import { reasonsOf } from '../support/reasons.js';
import { openEntry, startCoordinator } from '../support/runners.js';
import { assertVerdict } from '../support/verdict.js';

const folder = temporaryFolder('runners-faults');
after(folder.remove);

/** k6's own exit code for a run that was stopped from outside. */
const STOPPED = 105;
const SEGMENTS = ['0:1/2', '1/2:1'];
const EVERY_PATH = ['/v1/register', '/v1/set-up', '/v1/ready', '/v1/loaded', '/v1/torn-down'];

/**
 * Two runners of pulsar/concurrent. The second runner's connection to the coordinator has faults.
 * @param {Record<string, string | undefined>} env of the coordinator
 * @param {string} url of the second runner's coordinator @param {Record<string, string>} [second] more variables of it
 */
function startRunners(env, url, second = {}) {
  return SEGMENTS.map((segment, index) => {
    const part = [`--execution-segment=${segment}`, '--execution-segment-sequence=0,1/2,1'];
    return start(K6, ['run', '--quiet', '--address', '', ...part, 'scripts/pulsar/concurrent.js'], {
      env: index === 1 ? { ...env, COORDINATOR_URL: url, ...second } : env,
    });
  });
}

/**
 * @param {import('../support/between.js').Faults} faults
 * @param {(trial: {
 *   relay: import('../fakes/relay.js').FakeRelay, runners: ReturnType<typeof start>[], between: Awaited<ReturnType<typeof startBetween>>,
 *   coordinator: Awaited<ReturnType<typeof startCoordinator>> }) => Promise<void>} body
 * @param {{ relay?: import('../fakes/relay.js').Faults, both?: boolean, second?: Record<string, string>, variables?: Record<string, string> }} [more]
 *   `both`: the first runner has the same faults
 */
async function withFaults(faults, body, { relay: ill = {}, both = false, second = {}, variables = {} } = {}) {
  const relay = await startRelay(ill);
  const ENV = writeEnvironment(folder.path, openEntry(relay.url));
  const coordinator = await startCoordinator({ ENV, PROFILE: 'smoke', ...variables });
  const between = await startBetween(coordinator.env.COORDINATOR_URL, faults);
  const env = both ? { ...coordinator.env, COORDINATOR_URL: between.url } : coordinator.env;
  const runners = startRunners(env, between.url, second);
  try {
    await body({ relay, runners, between, coordinator });
  } finally {
    for (const { child } of runners) killTree(Number(child.pid));
    between.stop();
    coordinator.remove();
    await relay.stop();
  }
}

/** @param {ReturnType<typeof start>[]} all */
const codesOf = (all) => Promise.all(all.map(({ ended }) => ended));

/** Lines of k6's log with an error. @param {ReturnType<typeof start>} runner */
const errorsOf = ({ output }) => output.stderr.split('\n').filter((line) => /level=(error|fatal)/.test(line));

/** @param {Awaited<ReturnType<typeof startCoordinator>>} coordinator */
async function assertWhole(coordinator) {
  const code = await coordinator.ended;
  const { stdout, stderr } = coordinator.output;
  assert.ok([0, 3].includes(Number(code)), `${code}: ${stdout}${stderr}`);
  const result = coordinator.result();
  assertVerdict(result, 'pass');
  assert.equal(result.operations[0].requests, 200);
  return result;
}

test('a record that is cut short on its way, then left unanswered, is there once and whole', async () => {
  const fates = /** @type {const} */ (['cut', 'unanswered', 'pass']);
  await withFaults(
    { fate: (path, nth) => (path === '/v1/record' ? fates[nth - 1] : 'pass') },
    async ({ runners, between, coordinator }) => {
      assert.deepEqual(await codesOf(runners), [0, 0], runners[1].output.stderr);
      assert.equal(between.asked.get('/v1/record'), 3);
      await assertWhole(coordinator);
    },
  );
});

test('a question whose answer is lost, or that is cut short, changes nothing, whichever it is', async () => {
  await withFaults(
    { fate: (path, nth) => (EVERY_PATH.includes(path) && nth < 3 ? ['cut', 'unanswered'][nth - 1] : 'pass') },
    async ({ runners, relay, coordinator }) => {
      assert.deepEqual(await codesOf(runners), [0, 0], runners.map(({ output }) => output.stderr).join('\n'));
      await assertWhole(coordinator);
      assert.deepEqual(
        [relay.truth.topics.size, relay.truth.topicsEver],
        [0, 20],
        'set up and cleaned up once',
      );
    },
    { both: true },
  );
});

test('a runner whose record is not taken does not end with 0, and says why in one line', async () => {
  await withFaults(
    { fate: (path) => (path === '/v1/record' ? 'dead' : 'pass') },
    async ({ runners, coordinator }) => {
      assert.deepEqual(await codesOf(runners), [0, STOPPED], runners[1].output.stderr);
      const lines = errorsOf(runners[1]);
      assert.equal(lines.length, 1, runners[1].output.stderr);
      assert.match(lines[0], /the coordinator does not answer/);
      assert.equal(await coordinator.ended, 3, coordinator.output.stdout);
      assert.match(reasonsOf(coordinator.result()).join('\n'), /runner 2: has not been heard of for 30s/);
    },
  );
});

test('clocks that are an hour off: all begin together, and the result is on the coordinator’s clock', async () => {
  await withFaults(
    { hours: 1 },
    async ({ runners, coordinator }) => {
      assert.deepEqual(await codesOf(runners), [0, 0], runners.map(({ output }) => output.stderr).join('\n'));
      const { run, runners: rows, operations } = await assertWhole(coordinator);
      const ahead = (Date.parse(run.start) - Date.now()) / 3_600_000;
      assert.ok(ahead > 0.9 && ahead < 1, `${ahead} h`);
      for (const { clock_offset_ms: offset, start_offset_ms: off } of rows) {
        assert.ok(Math.abs(offset - 3_600_000) < 1000 && Math.abs(off) < 1000, `${offset} ${off}`);
      }
      assert.ok(operations[0].window_s < 60, `${operations[0].window_s} s`);
    },
    { both: true },
  );
});

test('a coordinator that was started again knows none of the runners: they stop, and nothing is left', async () => {
  const relay = await startRelay({});
  const ENV = writeEnvironment(folder.path, openEntry(relay.url));
  const variables = { ENV, PROFILE: 'soak', RATE: '20', DURATION: '5m' };
  const first = await startCoordinator(variables);
  const { port } = new URL(first.env.COORDINATOR_URL);
  const runners = startRunners(first.env, first.env.COORDINATOR_URL);
  /** @type {typeof first | undefined} */
  let second;
  try {
    await until(() => relay.truth.arrivals.some(({ payload }) => payload.seq === 20), 'the load');
    first.child.kill('SIGKILL');
    await first.ended;
    second = await startCoordinator(variables, ['--listen', `127.0.0.1:${port}`, '--wait', '5s']);
    assert.deepEqual(await codesOf(runners), [STOPPED, STOPPED]);
    for (const runner of runners) {
      assert.match(
        runner.output.stderr,
        /runner [12] has not registered with this coordinator: was it started again\?/,
      );
    }
    assert.equal(relay.truth.topics.size, 0, 'the topics are removed');
    assert.equal(await second.ended, SETUP, second.output.stdout);
    assert.match(second.output.stdout, /set-up failed: runner 1 of 2 did not come within 5s/);
  } finally {
    for (const { child } of runners) killTree(Number(child.pid));
    first.remove();
    second?.remove();
    await relay.stop();
  }
});

test('a target that refuses one runner only: a failure, and the runner is named', async () => {
  await withFaults(
    {},
    async ({ runners, relay, coordinator }) => {
      await codesOf(runners);
      assert.equal(await coordinator.ended, 99, coordinator.output.stdout);
      const result = coordinator.result();
      assertVerdict(result, 'fail');
      assert.deepEqual(result.operations[0].errors, { http_403: 100 });
      assert.match(
        reasonsOf(result).join('\n'),
        /runner 2: publish: 100 of this runner's 100 requests failed; of all runners 100 of 200/,
      );
      assert.deepEqual(
        result.runners.map((/** @type {any} */ { ok }) => ok),
        [true, false],
      );
      assert.equal(relay.truth.topics.size, 0, 'the topics are removed');
    },
    { relay: { refuseAgent: 'refused-runner' }, second: { K6_USER_AGENT: 'refused-runner' } },
  );
});
