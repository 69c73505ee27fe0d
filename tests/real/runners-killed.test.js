/** The processes and the output that remain after SIGKILL of the coordinator, and of all runners. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { startBench } from '../support/bench.js';
import { SETUP } from '../support/exit-codes.js';
import { K6, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { isAlive, killTree, processOf, until } from '../support/processes.js';
import { loadBegins, openEntry, runnerOf, startCoordinator } from '../support/runners.js';

const folder = temporaryFolder('runners-killed');
after(folder.remove);

/** k6's own exit code for a run that was stopped from outside. */
const STOPPED = 105;
const SEGMENTS = ['0:1/2', '1/2:1'];

test('a coordinator that is killed ends its runners: one line, nothing left on the target', async () => {
  const relay = await startRelay({});
  const ENV = writeEnvironment(folder.path, openEntry(relay.url));
  const coordinator = await startCoordinator({ ENV, PROFILE: 'soak', RATE: '20', DURATION: '5m' });
  const runners = SEGMENTS.map((segment) => {
    const part = [`--execution-segment=${segment}`, '--execution-segment-sequence=0,1/2,1'];
    return start(K6, ['run', '--quiet', '--address', '', ...part, 'scripts/pulsar/concurrent.js'], {
      env: coordinator.env,
    });
  });
  try {
    await until(() => relay.truth.arrivals.some(({ payload }) => payload.seq === 20), 'the load');
    assert.equal(relay.truth.topics.size, 20);
    coordinator.child.kill('SIGKILL');
    await coordinator.ended;
    assert.deepEqual(await Promise.all(runners.map(({ ended }) => ended)), [STOPPED, STOPPED]);
    for (const { output } of runners) {
      const lines = output.stderr.split('\n').filter((line) => /level=(error|fatal)/.test(line));
      assert.equal(lines.length, 2, output.stderr);
      assert.match(lines[0], /msg="the coordinator does not answer"/);
      assert.match(lines[1], /test run was aborted because k6 received a 'interrupt' signal/); // k6's own
    }
    assert.equal(relay.truth.topics.size, 0, 'the topics are removed');
  } finally {
    for (const { child } of runners) killTree(Number(child.pid));
    coordinator.remove();
    await relay.stop();
  }
});

test('all runners are killed: the bench removes what they made by the clean-up script, and says why', async () => {
  const relay = await startRelay({});
  const bench = startBench({
    PROFILE: 'full',
    ONLY: 'pulsar/concurrent',
    ENV: writeEnvironment(folder.path, openEntry(relay.url)),
    RUNNERS: '2',
  });
  try {
    await loadBegins(bench, 'pulsar-concurrent');
    assert.equal(relay.truth.topics.size, 20);
    const killed = SEGMENTS.map((segment) => processOf(Number(runnerOf(bench, segment)?.pid)));
    for (const { pid } of killed) process.kill(pid, 'SIGKILL');
    assert.equal(await bench.ended, SETUP, `${bench.output.stdout}${bench.output.stderr}`);
    const line = /^pulsar\/concurrent: runner [12] of 2 was killed: the others are stopped\n$/;
    assert.match(bench.output.stderr, line);
    assert.match(bench.output.stdout, /^.*pulsar\/concurrent: set-up failed: runner [12] of 2 was killed/m);
    assert.ok(bench.has('logs/pulsar-concurrent.cleanup.log'), 'the clean-up script ran');
    assert.equal(relay.truth.topics.size, 0, 'the topics are removed');
    assert.deepEqual(killed.filter(isAlive), []);
  } finally {
    bench.remove();
    await relay.stop();
  }
});
