/** Runs of several k6 against a relay that counts (docs/how-to/runners.md). tests/real/runners-each has the real relay and the panel. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { errorLines, startBench } from '../support/bench.js';
import { freePort } from '../support/free-port.js';
import { ROOT, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { descendants, isAlive, killTree, until } from '../support/processes.js';
import { faultsOf } from '../support/reasons.js';
import { assertTornDown, loadBegins, openEntry, runnerOf, startCoordinator } from '../support/runners.js';
import { assertVerdict } from '../support/verdict.js';

const folder = temporaryFolder('runners');
after(folder.remove);

test('as many messages arrive as of one runner, each once, on one set of topics', async () => {
  const arrived = [];
  for (const runners of ['1', '2', '3']) {
    const relay = await startRelay({});
    const environment = writeEnvironment(folder.path, openEntry(relay.url));
    const bench = startBench({
      PROFILE: 'smoke',
      ONLY: 'pulsar/concurrent',
      ENV: environment,
      RUNNERS: runners,
    });
    try {
      const code = await bench.ended;
      assert.ok([0, 3].includes(Number(code)), `${code}: ${bench.output.stdout}${bench.output.stderr}`);
      const { publishes, messages, topics, topicsEver, arrivals } = relay.truth;
      assert.equal(topics.size, 0, 'the topics are removed');
      assertTornDown(bench);
      const ids = arrivals.map(({ payload }) => payload.seq).filter((seq) => seq !== undefined);
      arrived.push({ publishes, messages, topicsEver, ids: ids.length, differ: new Set(ids).size });
    } finally {
      bench.remove();
      await relay.stop();
    }
  }
  assert.deepEqual([arrived[0].ids, arrived[0].differ], [200, 200]);
  assert.deepEqual(arrived[1], arrived[0]);
  assert.deepEqual(arrived[2], arrived[0]);
});

/** The commands of k6-operator for two runners of pulsar/concurrent, from its own Go packages: tests/kubernetes/commands.js. */
const OPERATOR = JSON.parse(readFileSync(join(ROOT, 'tests', 'fixtures', 'k6-operator.json'), 'utf8'));

/**
 * Runs a command of the operator's as its image would, but with this checkout's files, and its own temporary folder and ports.
 * @param {string[]} command @param {Record<string, string>} replaced by what @param {Record<string, string | undefined>} env
 */
function startAsOperator(command, replaced, env) {
  /** @type {Record<string, string>} */
  const all = { '/windtunnel/': ROOT, '/tmp/': `${folder.path}/`, ...replaced };
  const any = new RegExp(Object.keys(all).join('|'), 'g');
  const [program, ...args] = command.map((part) => part.replaceAll(any, (found) => all[found] ?? found));
  return start(program, args, { env: { ...env, PATH: `${join(ROOT, 'bin')}:${env.PATH}` } });
}

test('the operator’s own command lines: options read, paused, started one after the other, with tags', async () => {
  const module = readFileSync(join(ROOT, 'tests', 'kubernetes', 'operator', 'go.mod'), 'utf8');
  assert.ok(module.includes(`github.com/grafana/k6-operator ${OPERATOR.operator}\n`), OPERATOR.operator);
  const relay = await startRelay({});
  const ENV = writeEnvironment(folder.path, openEntry(relay.url));
  const coordinator = await startCoordinator({ ENV, PROFILE: 'smoke' });
  /** @type {ReturnType<typeof start>[]} */
  let runners = [];
  try {
    // k6 archive keeps no variables by default: deploy/ gives this one to the initializer.
    const initializer = startAsOperator(
      OPERATOR.initializer,
      {},
      { ...coordinator.env, COORDINATOR_URL: '', K6_INCLUDE_SYSTEM_ENV_VARS: 'true' },
    );
    assert.equal(await initializer.ended, 0, initializer.output.stderr);
    assert.equal(JSON.parse(initializer.output.stdout).maxVUs, 20);

    const ports = await Promise.all(OPERATOR.runners.map(freePort));
    runners = OPERATOR.runners.map((/** @type {string[]} */ command, /** @type {number} */ index) =>
      startAsOperator(command, { '0.0.0.0:6565': `127.0.0.1:${ports[index]}` }, coordinator.env),
    );
    for (const port of ports) {
      await until(
        async () => (await fetch(`http://127.0.0.1:${port}/v1/status`).catch(() => null))?.ok,
        'the runner is ready, as the operator asks before it starts one',
      );
    }
    assert.equal(relay.truth.publishes, 0, 'nothing is sent while they are paused');
    const hosts = ports.map((port, index) => [`runner-${index + 1}:6565`, `127.0.0.1:${port}`]);
    const starter = startAsOperator(OPERATOR.starter, Object.fromEntries(hosts), coordinator.env);
    assert.equal(await starter.ended, 0, starter.output.stderr);

    const ended = await Promise.all(runners.map((runner) => runner.ended));
    assert.deepEqual(ended, [0, 0], runners.map(({ output }) => output.stdout + output.stderr).join('\n'));
    const code = await coordinator.ended;
    const { stdout, stderr } = coordinator.output;
    assert.ok([0, 3].includes(Number(code)), `${code}: ${stdout}${stderr}`);
    const result = coordinator.result();
    assertVerdict(result, 'pass');
    assert.equal(result.run.id, coordinator.id);
    assert.equal(result.operations[0].requests, 200);
    const { publishes, topics } = relay.truth;
    assert.deepEqual([publishes, topics.size], [220, 0], '20 of them before the load');
  } finally {
    for (const { child } of runners) killTree(Number(child.pid));
    coordinator.remove();
    await relay.stop();
  }
});

test('a runner that is killed is named, the others stop, and the topics are removed', async () => {
  const relay = await startRelay({});
  const environment = writeEnvironment(folder.path, openEntry(relay.url));
  const bench = startBench({ PROFILE: 'full', ONLY: 'pulsar/concurrent', ENV: environment, RUNNERS: '2' });
  try {
    await loadBegins(bench, 'pulsar-concurrent');
    process.kill(Number(runnerOf(bench, '1/2:1')?.pid), 'SIGKILL');
    const code = await bench.ended;
    const { stdout, stderr } = bench.output;
    assert.equal(code, 3, `${stdout}${stderr}`);
    assert.equal(stderr, 'pulsar/concurrent: runner 2 of 2 was killed: the others are stopped\n');
    const result = bench.result('pulsar-concurrent');
    assert.equal(result.verdict, 'inconclusive');
    assert.ok(
      faultsOf(result).some((/** @type {string} */ line) => /runner 2.*was killed/.test(line)),
      JSON.stringify(result.reasons),
    );
    assert.deepEqual(result.runners.map((/** @type {any} */ { ok, record }) => [ok, Boolean(record)])[1], [
      false,
      false,
    ]);
    assert.equal(relay.truth.topics.size, 0, 'the other runner has cleaned up');
    assertTornDown(bench);
  } finally {
    bench.remove();
    await relay.stop();
  }
});

test('Ctrl-C ends all runners gracefully, once, and nothing is left', async () => {
  const relay = await startRelay({});
  const environment = writeEnvironment(folder.path, openEntry(relay.url));
  const bench = startBench({ PROFILE: 'full', ONLY: 'pulsar/concurrent', ENV: environment, RUNNERS: '2' });
  try {
    await loadBegins(bench, 'pulsar-concurrent');
    const all = descendants(Number(bench.child.pid));
    process.kill(Number(bench.child.pid), 'SIGINT');
    assert.equal(await bench.ended, 130, `${bench.output.stdout}${bench.output.stderr}`);
    assert.match(
      bench.output.stderr,
      /^interrupted: k6 cleans up and writes what it has; once more stops it at once\n$/,
    );
    const result = bench.result('pulsar-concurrent');
    assert.equal(
      result.runners.filter((/** @type {any} */ { record }) => record).length,
      2,
      'both delivered',
    );
    assert.equal(relay.truth.topics.size, 0, 'the topics are removed');
    assert.deepEqual(all.filter(isAlive), [], 'nothing is left running');
  } finally {
    bench.remove();
    await relay.stop();
  }
});

test('what cannot be made by so many runners is refused before anything starts, in one line', async () => {
  for (const [variables, line] of /** @type {[Record<string, string>, RegExp][]} */ ([
    [{ ONLY: 'pulsar/ingest', RUNNERS: '2' }, /^pulsar\/ingest has 1 client .*RUNNERS=1.*CLIENTS=2/],
    [
      { ONLY: 'panel/users-live', RUNNERS: '2' },
      /^panel\/users-live has 1 client .*2 runners.*: leave out RUNNERS, or leave out the scenario$/,
    ],
    [{ ONLY: 'pulsar/ingest', RUNNERS: '0' }, /^--runners 0: /],
    [{ ONLY: 'pulsar/ingest', RUNNERS: 'two' }, /^--runners two: /],
    [
      { ONLY: 'users/live', RUNNERS: '2' },
      /^RUNNERS=2: left out, since the sidecar's probes make their load, .*: users\/live$/,
    ],
  ])) {
    const bench = startBench({ PROFILE: 'smoke', ...variables });
    try {
      assert.equal(await bench.ended, 2, bench.output.stdout);
      assert.ok(
        errorLines(bench.output).some((told) => line.test(told)),
        bench.output.stderr,
      );
      assert.equal(bench.output.stdout, '');
    } finally {
      bench.remove();
    }
  }
});

test('a set-up that fails is told once, in the words of the runner that set up', async () => {
  const environment = writeEnvironment(folder.path, openEntry('http://127.0.0.1:1'));
  const bench = startBench({ PROFILE: 'smoke', ONLY: 'pulsar/concurrent', ENV: environment, RUNNERS: '2' });
  try {
    assert.equal(await bench.ended, 4);
    assert.match(
      bench.output.stdout,
      /set-up failed: pulsar: http:\/\/127.0.0.1:1 refused the connection: is the relay running there\?\n/,
    );
  } finally {
    bench.remove();
  }
});
