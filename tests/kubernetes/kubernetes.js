/**
 * `make cluster` on a real Kubernetes with the real k6-operator, against the real relay in the cluster.
 * The name does not end in `.test.js`, because only `make test-kubernetes` builds these programs.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test as testForever } from 'node:test';

import { FAIL, INCONCLUSIVE, INTERRUPTED, PASS, SETUP, USAGE } from '../support/exit-codes.js';
import { commandLines, until } from '../support/processes.js';
import { faultsOf } from '../support/reasons.js';
import { timely, undisturbed } from '../support/timely.js';
import { assertVerdict } from '../support/verdict.js';
import { Cluster } from './cluster.js';
import { commandsOfOperator, commandsThatAreKept } from './commands.js';
import { machine } from './machine.js';

/** Long enough for a test to disturb the run. */
const LONG = { PROFILE: 'quick', MESSAGES: '40000' };

/** Limit of a test in ms; a test takes half a minute. */
const TOO_LONG = 4 * 60_000;

/** @param {string} name @param {() => void | Promise<void>} check */
const test = (name, check) => testForever(name, { timeout: TOO_LONG }, check);

const asItWas = machine();
const cluster = new Cluster();

before(async () => {
  await cluster.up();
  await cluster.startRelay();
});

// The hooks run in this order: the last one ends the cluster.
const end = () => {
  if (existsSync(cluster.folder)) cluster.down();
};
after(end);
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    end();
    process.exit(INTERRUPTED);
  });

/** Objects and topics that runs left in the cluster and the relay. */
function assertNothingLeft() {
  assert.deepEqual(cluster.left(), []);
  assert.deepEqual(cluster.topics(), []);
}

/** Pods of runners that run. */
const runners = () =>
  cluster.items('pods', '--selector=runner=true').filter(({ status }) => status.phase === 'Running');

/** @param {{ output: { stdout: string, stderr: string } }} run */
const said = ({ output }) => output.stdout + output.stderr;

/**
 * Waits until a run passes, or is inconclusive only because the machine is crowded.
 * @param {ReturnType<Cluster['run']>} run
 */
async function passed(run) {
  const code = await run.ended;
  assert.ok(code === PASS || code === INCONCLUSIVE, said(run));
  const result = run.result('pulsar-concurrent');
  assertVerdict(result, 'pass');
  assert.equal(code, result.verdict === 'pass' ? PASS : INCONCLUSIVE, said(run));
  return result;
}

/**
 * Waits while a run lasts.
 * @template T
 * @param {ReturnType<Cluster['run']>} run
 * @param {() => T | undefined | false} condition
 * @param {string} what
 */
const during = (run, condition, what) =>
  until(() => {
    assert.equal(run.child.exitCode, null, said(run));
    return condition();
  }, what);

/** Runs until its load is under way. @param {Record<string, string>} [variables] */
async function underWay(variables = {}) {
  const since = cluster.requests().length;
  const run = cluster.run({ ...LONG, ...variables });
  await during(run, () => cluster.accepted(since).size === 2, 'messages of both runners');
  return run;
}

test('tests/fixtures/k6-operator.json is what the operator runs; node tests/kubernetes/commands.js writes it anew', () => {
  assert.deepEqual(commandsThatAreKept(), commandsOfOperator());
});

test('two runners make one result: the relay has what it says, and each sent its part', async () => {
  const since = cluster.requests().length;
  const run = cluster.run({ PROFILE: 'quick' });
  /** @type {string[]} */
  let commands = [];
  await during(
    run,
    () => {
      commands = runners().map(({ spec }) => spec.containers[0].command.join(' '));
      return commands.length === 2;
    },
    'two runners',
  );
  assert.match(commands.join('\n'), /--execution-segment=0:1\/2[^]*--execution-segment=1\/2:1/);
  const result = await passed(run);
  const [publish] = result.operations;
  const by = cluster.accepted(since);
  assert.equal(by.size, 2);
  const counted = [...by.values()].reduce((sum, count) => sum + count, 0);
  assert.equal(publish.requests, 1000);
  // Each client warms up with a message that only the relay counts.
  assert.equal(counted, publish.requests + result.run.parameters.clients);
  assert.equal(result.runners.length, 2);
  assert.ok(existsSync(join(run.folder, 'report.html')));
  assertNothingLeft();
});

const BOUND = 'a bound that does not hold ends with the code of a threshold';
test(
  BOUND,
  undisturbed(async () => {
    const thresholds = { concurrent: { publish_open: { 'p(95)': 0.001 } } };
    // The rate leaves the generators idle: on a crowded machine a closed loop would be inconclusive.
    const shape = { PROFILE: 'soak', DURATION: '5s', RATE: '20' };
    const run = cluster.run({ ...shape, ENV: cluster.writeEnvironment('strict', { thresholds }) });
    const code = await run.ended;
    assert.ok([FAIL, INCONCLUSIVE].includes(Number(code)), said(run));
    const result = run.result('pulsar-concurrent');
    assert.match(faultsOf(result).join('\n'), /^publish_open: P95 [\d.]+ ms, at most 0\.001 ms$/);
    assertNothingLeft();
    // The generators may still be late.
    timely(code === FAIL, said(run));
    assert.equal(result.verdict, 'fail');
  }),
);

test('a runner that is killed makes the run inconclusive, and is named', async () => {
  const run = await underWay();
  cluster.kill(/^k6 run .*--execution-segment=0:1\/2/);
  assert.equal(await run.ended, INCONCLUSIVE, said(run));
  assert.match(run.output.stdout, /pulsar\/concurrent: inconclusive: .*runner 1/);
  assertNothingLeft();
});

test('a runner that is evicted stops the others, and is named', async () => {
  const run = await underWay();
  const [{ metadata }] = runners();
  cluster.kubectl('delete', 'pod', metadata.name, '--wait=false');
  assert.equal(await run.ended, INCONCLUSIVE, said(run));
  assert.match(run.output.stdout, /pulsar\/concurrent: inconclusive: .*runner [12]/);
  assertNothingLeft();
});

test('a coordinator that is killed is told, and its runners clean up', async () => {
  const run = await underWay();
  cluster.kill(/^k6 x coordinate/);
  assert.equal(await run.ended, SETUP, said(run));
  assert.match(run.output.stdout, /pulsar\/concurrent: set-up failed: the coordinator was killed/);
  assertNothingLeft();
});

test('Ctrl-C stops the load, cleans up and keeps what there is', async () => {
  const run = await underWay();
  run.child.kill('SIGINT');
  assert.equal(await run.ended, INTERRUPTED, said(run));
  assert.match(run.output.stdout, /verdict: interrupted/);
  assert.ok(run.result('pulsar-concurrent').operations[0].requests > 0);
  assertNothingLeft();
});

/** @param {{ folder: string }} run @param {string[]} secrets that no file of it may have */
function assertWithout(run, ...secrets) {
  const files = readdirSync(run.folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  assert.ok(files.length > 3);
  for (const { name, parentPath } of files)
    for (const secret of secrets) assert.ok(!readFileSync(join(parentPath, name)).includes(secret), name);
}

/** @param {{ folder: string }} run */
const recordOf = ({ folder }) => JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));

test('points of both runners add up to what the relay has, and no secret comes home', async () => {
  const db = await cluster.startInflux();
  const since = cluster.requests().length;
  const run = cluster.run({ PROFILE: 'quick', ...db.variables });
  const { operations, verdict, run: told } = await passed(run);
  assert.match(run.output.stdout, /^streaming to http:/m);
  const where = `testid='${run.id}' AND operation='publish'`;
  const shares = await db.ask(`SELECT sum(count) FROM operation_failed WHERE ${where} GROUP BY runner`);
  assert.deepEqual(
    shares.map(({ tags, values }) => [tags?.runner, values[0][1]]),
    [
      ['1', 500],
      ['2', 500],
    ],
  );
  const counted = [...cluster.accepted(since).values()].reduce((sum, count) => sum + count, 0);
  // Each client warms up with a message that only the relay counts.
  assert.equal(await db.sum('count', 'operation_failed', where), counted - told.parameters.clients);
  assert.equal(await db.sum('count', 'operation_ms', where), operations[0].latency_ms.count);
  const events = await db.rows(`SELECT kind, title, verdict FROM events WHERE testid='${run.id}'`);
  assert.deepEqual(events.map((one) => `${one.kind} ${one.verdict ?? ''}`.trim()).toSorted(), [
    `run_end ${verdict}`,
    'run_start',
    `scenario ${verdict}`,
    'start',
  ]);
  const [figures] = await db.rows(`SELECT requests FROM results WHERE ${where}`);
  assert.equal(figures.requests, operations[0].requests);
  const record = recordOf(run);
  assert.deepEqual([record.streamed, record.notes ?? []], [true, []]);
  assertWithout(run, cluster.environment.RELAY_PASSWORD, db.variables.INFLUX_PASSWORD);
  assertNothingLeft();
});

test('an InfluxDB that is away is told of, and changes nothing', async () => {
  const run = cluster.run({ INFLUX: cluster.nowhere, INFLUX_PASSWORD: 'a-password-of-nobody' });
  await passed(run);
  assert.match(run.output.stderr, /^InfluxDB misses \d+ seconds?, .*; the results are complete$/m);
  const { streamed, notes } = recordOf(run);
  assert.equal(streamed, true);
  assert.match(notes.join('\n'), /^InfluxDB misses/);
  assertNothingLeft();
});

/** A kubeconfig that may only look at pods. */
function lookerOn() {
  cluster.kubectl('create', 'role', 'look', '--verb=list', '--resource=pods');
  return cluster.allowed('looker-on', 'look');
}

test('what cannot be run is told in one line, and leaves nothing', async () => {
  const quota = () => cluster.kubectl('create', 'quota', 'small', '--hard=limits.cpu=700m,limits.memory=8Gi');
  /** @type {{ variables?: Record<string, string>, prepare?: () => void, undo?: () => unknown, code: number, line: RegExp }[]} */
  const cases = [
    { variables: { KUBECONFIG: '/nowhere' }, code: SETUP, line: /^no cluster: kubectl has no context/ },
    {
      variables: { KUBECONFIG: lookerOn() },
      code: SETUP,
      line: /^the context windtunnel lacks these permissions: create jobs.batch/,
    },
    {
      variables: { NAMESPACE: 'nowhere' },
      code: SETUP,
      line: /lacks these permissions: create jobs.batch/,
    },
    { variables: { IMAGE: '' }, code: USAGE, line: /^IMAGE is not set/ },
    {
      variables: { INFLUX: 'http://127.0.0.1:8086' },
      code: USAGE,
      line: /^INFLUX=\S+ is on this machine: pods would not find it/,
    },
    { variables: { ENV: 'local' }, code: USAGE, line: /^environments\/local.json has a testbed for pulsar/ },
    { variables: { IMAGE: 'localhost/nothing:test' }, code: SETUP, line: /does not start: ImagePullBackOff/ },
    {
      prepare: quota,
      undo: () => cluster.kubectl('delete', 'quota', 'small'),
      code: SETUP,
      line: /gets no pod: .*exceeded quota: small/,
    },
    {
      prepare: () => cluster.kubectl('delete', 'crd', 'testruns.k6.io'),
      undo: () => cluster.installOperator(),
      code: SETUP,
      line: /has no k6-operator/,
    },
  ];
  for (const { variables = {}, prepare, undo, code, line } of cases) {
    prepare?.();
    const run = cluster.run(variables);
    const ended = await run.ended;
    await undo?.();
    assert.equal(ended, code, `${line}: ${said(run)}`);
    const lines = said(run)
      .split('\n')
      .filter((text) => line.test(text.replace('pulsar/concurrent: set-up failed: ', '')));
    assert.equal(lines.length, 1, `${line}: ${said(run)}`);
    assertNothingLeft();
  }
});

test('the machine is as it was before', () => {
  const { folder } = cluster;
  cluster.down();
  assert.deepEqual(machine(), asItWas);
  assert.deepEqual(
    commandLines().filter((line) => line.includes(folder) || line.includes('bin/kubernetes/')),
    [],
  );
});
