/** The relay's scenarios against the real relay, and the relay's faults; tests/real/smoke has all nine as a bench starts them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { K6, cleanEnvironment, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { descendants, isAlive, until } from '../support/processes.js';
import { messagesOf, relayOf } from '../support/relay.js';
import { reasonsOf } from '../support/reasons.js';
import { withLent } from '../support/lend.js';
import { withSystems } from '../support/systems.js';
import { assertDied } from '../support/verdict.js';

const SECRET = 'correct-horse-battery-staple-42';
const folder = temporaryFolder('real');
after(folder.remove);

/** @param {object} variables of the testbed @param {object} [more] */
function testbedEnvironment(variables, more = {}) {
  return writeEnvironment(folder.path, {
    testbed: { name: 'pulsar-relay', variables },
    auth: { mode: 'login', username: 'admin', password_env: 'PULSAR_PASSWORD' },
    websocket: { auth: 'subprotocol' },
    ...more,
  });
}

test('a relay with its rate limiter on fails with a verdict that says so', async () => {
  const ENV = testbedEnvironment({ rate_limit: true });
  const bench = startBench({ ENV, PROFILE: 'quick', ONLY: 'pulsar/ingest' });
  try {
    assert.equal(await bench.ended, 99);
    const result = bench.result('pulsar-ingest');
    assert.ok(result.operations[0].errors.http_429 > 800, JSON.stringify(result.operations[0].errors));
    assert.equal(result.verdict, 'fail');
    assert.match(bench.output.stdout, /limited the rate \(429\)/);
  } finally {
    bench.remove();
  }
});

test('a relay that is killed in mid-run ends the load, fails by name, and what was measured stays', async () => {
  const load = { PROFILE: 'quick', MESSAGES: '1000000', TOPICS: '1' };
  const bench = startBench({ ...load, ONLY: 'pulsar/ingest', PULSAR_PASSWORD: SECRET });
  try {
    await until(async () => (await messagesOf(bench, SECRET)) === 100, 'the load');
    process.kill(Number(relayOf(bench)?.pid), 'SIGKILL');
    const killed = Date.now();
    assert.equal(await bench.ended, 99);
    const result = bench.result('pulsar-ingest');
    const [row] = result.operations;
    assert.ok(row.success > 0, 'what came before is kept');
    assertDied(row.errors);
    assert.ok(row.requests < 1_000_000, 'a dead relay is not loaded to the end');
    assert.ok(new Date(result.run.end).getTime() - killed < 20_000, 'k6 is stopped at once');
    assert.ok(
      reasonsOf(result).some((reason) => /relay ended [\d.]+ s after the start \(signal 9\)/.test(reason)),
      reasonsOf(result).join('\n'),
    );
  } finally {
    bench.remove();
  }
});

test('Ctrl-C keeps what was measured, marks it, and stops everything', async () => {
  const load = { PROFILE: 'soak', DURATION: '5m', RATE: '20', TOPICS: '1' };
  const bench = startBench({ ...load, ONLY: 'pulsar', PULSAR_PASSWORD: SECRET });
  try {
    // 20 messages of the set-up, and four seconds of an open loop. Two of the four seconds are not recorded.
    await until(async () => (await messagesOf(bench, SECRET)) === 100, 'the load');
    const started = descendants(Number(bench.child.pid));
    bench.child.kill('SIGINT');
    assert.equal(await bench.ended, 130);
    const result = bench.result('pulsar-ingest');
    assert.equal(result.verdict, 'inconclusive');
    assert.ok(result.operations[0].success > 0);
    assert.match(reasonsOf(result).join('\n'), /complete: .* ended early/);
    assert.ok(!bench.has('pulsar-bulk.json'), 'the others are skipped');
    assert.ok(bench.has('report.html'));
    assert.deepEqual(started.filter(isAlive), []);
  } finally {
    bench.remove();
  }
});

test('a port that is taken ends with one line', async () => {
  const server = (await import('node:net')).createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const bench = startBench({ ENV: testbedEnvironment({ http_port: port }), ONLY: 'pulsar/ingest' });
  try {
    assert.equal(await bench.ended, 4);
    const lines = errorLines(bench.output);
    assert.equal(lines.length, 1, bench.output.stdout);
    assert.match(lines[0], new RegExp(`port ${port}\\b.*taken`));
  } finally {
    server.close();
    bench.remove();
  }
});

test('quick: the reference document’s own numbers of operations, and no error', () =>
  withSystems(['pulsar'], async ({ variables }) => {
    const bench = startBench({ ...variables, PROFILE: 'quick', ONLY: 'pulsar' });
    try {
      const code = await bench.ended;
      assert.ok([0, 3].includes(code), `exit code ${code}: ${bench.output.stdout}${bench.output.stderr}`);
      const expected = {
        ingest: { publish: 1000 },
        bulk: { publish: 100 },
        concurrent: { publish: 1000 },
        subscribe: { subscribe: 50 },
        delivery: { deliver: 1000, publish: 250 },
        broadcast: { deliver: 1500, last: 50, publish: 50 },
        poll: { wake: 200, wait: 20 },
      };
      for (const [name, operations] of Object.entries(expected)) {
        const rows = bench.result(`pulsar-${name}`).operations;
        const found = rows.map((/** @type {any} */ row) => [row.name, row.success]);
        assert.deepEqual(Object.fromEntries(found), operations, name);
        for (const row of rows)
          assert.deepEqual([row.requests, row.errors], [row.success, {}], `${name}/${row.name}`);
      }
      assert.equal(bench.result('pulsar-bulk').operations[0].items.count, 5000);
    } finally {
      bench.remove();
    }
  }));

test('k6 run works by itself against a relay that is up', () =>
  withLent(['pulsar-relay'], async ({ outputs, secret_outputs: secrets }) => {
    const run = start(
      K6,
      ['run', '--quiet', '--no-usage-report', '--address', '', 'scripts/pulsar/ingest.js'],
      { env: { ...cleanEnvironment(), ...outputs, ...secrets, RESULT_DIR: folder.path } },
    );
    assert.equal(await run.ended, 0, run.output.stderr);
    assert.match(run.output.stdout, /pulsar\/ingest \(smoke\) on local: pass/);
  }));

test('a wrong password is told in one line', () =>
  withSystems(['pulsar'], async ({ variables }) => {
    const PULSAR_PASSWORD = 'not-the-password';
    const bench = startBench({ ...variables, PULSAR_PASSWORD, ONLY: 'pulsar/ingest' });
    try {
      assert.equal(await bench.ended, 4);
      assert.match(
        bench.output.stdout + bench.output.stderr,
        /refused user admin: wrong user name or password/,
      );
      assert.equal(errorLines(bench.output).length, 1, bench.output.stderr);
    } finally {
      bench.remove();
    }
  }));
