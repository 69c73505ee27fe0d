/** Runs of several k6, against the real relay, the reference panel and a relay that counts. docs/runners.md tells how they go. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { errorLines, startBench } from '../support/bench.js';
import { K6, cleanEnvironment, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { descendants, isAlive, until } from '../support/processes.js';
import { faultsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';

const folder = temporaryFolder('runners');
after(folder.remove);

/** @typedef {ReturnType<typeof startBench>} Bench */

/** The k6 that makes a part of a bench's load. @param {Bench} bench @param {string} segment such as 0:1/2 */
const runnerOf = ({ child }, segment) =>
  descendants(Number(child.pid)).find(({ command }) => command.includes(`--execution-segment=${segment} `));

/** Once the load of a bench has begun: what its first runner logs says so. @param {Bench} bench @param {string} name */
const loadBegins = (bench, name) =>
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
function assertTornDown(bench) {
  const logs = bench.files().filter(({ path }) => path.startsWith('logs/'));
  assert.ok(!logs.some(({ name }) => name.includes('cleanup')), 'the clean-up script had to run');
  assert.ok(!logs.some(({ text }) => text.includes('script exception')), 'a script threw');
}

/** @param {string} url */
const entry = (url) => ({ url, auth: { mode: 'none' }, websocket: { auth: 'none' } });

for (const [
  only,
  variables,
  operation,
  requests,
] of /** @type {[string, Record<string, string>, string, number][]} */ ([
  ['pulsar/ingest', { CLIENTS: '2' }, 'publish', 200],
  ['pulsar/concurrent', {}, 'publish', 200],
  ['pulsar/delivery', { CLIENTS: '2', ROOMS: '2' }, 'deliver', 400],
  ['panel/users-create', {}, 'create', 100],
])) {
  test(`${only}: two runners make the load of one, and one verdict`, async () => {
    const bench = startBench({ PROFILE: 'smoke', ONLY: only, RUNNERS: '2', ...variables });
    try {
      const code = await bench.ended;
      assert.ok(
        [0, 3].includes(Number(code)),
        `exit code ${code}: ${bench.output.stdout}${bench.output.stderr}`,
      );
      const result = bench.result(only.replace('/', '-'));
      assertVerdict(result, 'pass');
      assertTornDown(bench);
      const row = result.operations.find((/** @type {any} */ { name }) => name === operation);
      assert.deepEqual([row.requests, row.success, row.errors], [requests, requests, {}]);
      assert.deepEqual(
        result.runners.map((/** @type {any} */ { number, segment, share }) => [number, segment, share]),
        [
          [1, '0:1/2', 0.5],
          [2, '1/2:1', 0.5],
        ],
      );
      for (const line of result.integrity ?? []) assert.ok(line.ok, JSON.stringify(line));
      assert.equal(result.run.id, bench.folder.split('/').at(-1));
      for (const file of ['runner-1.record', 'runner-2.record'])
        assert.ok(bench.has(`${only.replace('/', '-')}.${file}`), file);
    } finally {
      bench.remove();
    }
  });
}

test('what arrives is what arrives of one runner: each message once, and one set of topics', async () => {
  const arrived = [];
  for (const runners of ['1', '2', '3']) {
    const relay = await startRelay({});
    const environment = writeEnvironment(folder.path, entry(relay.url));
    const bench = startBench({
      PROFILE: 'smoke',
      ONLY: 'pulsar/concurrent',
      ENV: environment,
      RUNNERS: runners,
    });
    try {
      const code = await bench.ended;
      assert.ok([0, 3].includes(Number(code)), `${code}: ${bench.output.stdout}${bench.output.stderr}`);
      const { publishes, messages, topics, topicsEver } = relay.truth;
      assert.equal(topics.size, 0, 'the topics are removed');
      assertTornDown(bench);
      arrived.push({ publishes, messages, topicsEver });
    } finally {
      bench.remove();
      await relay.stop();
    }
  }
  assert.deepEqual(arrived[1], arrived[0]);
  assert.deepEqual(arrived[2], arrived[0]);
});

test('the operator’s own command lines: paused, started one after the other, with tags', async () => {
  const relay = await startRelay({});
  const environment = writeEnvironment(folder.path, entry(relay.url));
  const id = `test-operator-${process.pid}`;
  const common = {
    ...cleanEnvironment(),
    COORDINATOR_TOKEN: 'a-token-of-this-test-alone',
    ENV: environment,
    PROFILE: 'smoke',
    RUN_ID: id,
    WINDTUNNEL_ROOT: folder.path,
  };
  const root = new URL('../..', import.meta.url).pathname;
  const coordinator = start(
    K6,
    [
      'x',
      'coordinate',
      '--only',
      'pulsar/concurrent',
      '--runners',
      '2',
      '--listen',
      '127.0.0.1:0',
      '--root',
      root,
    ],
    { env: common },
  );
  const results = join(root, 'results', id);
  try {
    const url = await until(
      () => /coordinator at (http:\/\/\S+)/.exec(coordinator.output.stdout)?.[1],
      'the coordinator listens',
    );
    const ports = [0, 0];
    const runners = ['0:1/2', '1/2:1'].map((segment, index) => {
      ports[index] = 20_000 + Math.floor(Math.random() * 20_000);
      const args = [
        'run',
        '--quiet',
        `--execution-segment=${segment}`,
        '--execution-segment-sequence=0,1/2,1',
      ];
      const last = [`--address=127.0.0.1:${ports[index]}`, '--paused', '--tag', `instance_id=${index + 1}`];
      return start(K6, [...args, 'scripts/pulsar/concurrent.js', ...last, '--tag', 'job_name=trial'], {
        env: { ...common, COORDINATOR_URL: url },
      });
    });
    for (const port of ports) {
      const body = '{"data":{"attributes":{"paused":false,"stopped":false},"id":"default","type":"status"}}';
      const headers = { 'Content-Type': 'application/json' };
      const patch = { method: 'PATCH', headers, body };
      await until(
        async () => (await fetch(`http://127.0.0.1:${port}/v1/status`, patch).catch(() => null))?.ok,
        'the runner can be started',
      );
    }
    const ended = await Promise.all(runners.map((runner) => runner.ended));
    assert.deepEqual(ended, [0, 0], runners.map(({ output }) => output.stderr).join('\n'));
    const code = await coordinator.ended;
    const { stdout, stderr } = coordinator.output;
    assert.ok([0, 3].includes(Number(code)), `${code}: ${stdout}${stderr}`);
    const result = JSON.parse(readFileSync(join(results, 'pulsar-concurrent.json'), 'utf8'));
    assertVerdict(result, 'pass');
    assert.equal(result.run.id, id);
    assert.equal(result.operations[0].requests, 200);
    const { publishes, topics } = relay.truth;
    assert.deepEqual([publishes, topics.size], [220, 0], '20 of them before the load');
  } finally {
    coordinator.child.kill('SIGKILL');
    await relay.stop();
    const { rmSync } = await import('node:fs');
    rmSync(results, { recursive: true, force: true });
  }
});

test('a runner that is killed is named, the others stop, and the topics are removed', async () => {
  const relay = await startRelay({});
  const environment = writeEnvironment(folder.path, entry(relay.url));
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
  const environment = writeEnvironment(folder.path, entry(relay.url));
  const bench = startBench({ PROFILE: 'full', ONLY: 'pulsar/concurrent', ENV: environment, RUNNERS: '2' });
  try {
    await loadBegins(bench, 'pulsar-concurrent');
    const all = descendants(Number(bench.child.pid)).map(({ pid }) => pid);
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
    [{ ONLY: 'pulsar/ingest', RUNNERS: '0' }, /^--runners 0: /],
    [{ ONLY: 'pulsar/ingest', RUNNERS: 'two' }, /^--runners two: /],
    [
      { ONLY: 'dataplane/handshake', RUNNERS: '2' },
      /^RUNNERS=2: left out, since the sidecar's probes make their load/,
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
  const environment = writeEnvironment(folder.path, entry('http://127.0.0.1:1'));
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
