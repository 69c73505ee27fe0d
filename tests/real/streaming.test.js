/** What `k6 x bench` streams, in Debian's InfluxDB; and that one which is away spoils nothing. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRelay } from '../fakes/relay.js';
import { startBench } from '../support/bench.js';
import { influx } from '../support/influx.js';
import { temporaryFolder, writeEnvironment } from '../support/k6.js';
import { patience } from '../support/patience.js';
import { until } from '../support/processes.js';
import { openEntry } from '../support/runners.js';
import { startSidecar } from '../support/sidecar.js';

/** Of a run of panel/users-create, with all that is streamed. */
const MOST_SERIES = 400;

/** Of any scenario's run without errors: of its own, and of each operation. docs/reference/streaming.md says of what. */
const MOST_OF_SCENARIO = 80;
const MOST_OF_OPERATION = 80;

const folder = temporaryFolder('streaming');
let /** @type {Awaited<ReturnType<typeof startSidecar>>} */ sidecar;

/** An InfluxDB whose data outlives it, and whose port and password stay the same. */
const database = {
  password: 'streaming-test-password',
  port: 0,
  async start() {
    const variables = { data: `${folder.path}/influxdb`, http_port: database.port };
    const instance = await sidecar.start('influxdb', variables);
    const outputs = { ...instance.outputs, ...instance.secret_outputs };
    database.port = Number(new URL(outputs.INFLUX).port);
    return {
      outputs,
      influx: influx(outputs),
      kill: () => process.kill(instance.processes[0].pid, 'SIGKILL'),
      stop: () => sidecar.ask('DELETE', `/instances/${instance.id}`),
    };
  },
};

before(async () => {
  sidecar = await startSidecar(`${folder.path}/logs`, { INFLUX_PASSWORD: database.password });
});
after(async () => {
  await sidecar.stop();
  folder.remove();
});

/** @param {{ stderr: string }} output */
const linesOf = ({ stderr }) => stderr.split('\n').filter((line) => line !== '');

/** @param {{ folder: string }} bench */
const idOf = (bench) => /** @type {string} */ (bench.folder.split('/').at(-1));

/** Whatever else the machine does may make a run inconclusive; nothing else may be wrong. @param {unknown} code */
const assertFine = (code) => assert.ok(code === 0 || code === 3, `exit code ${code}`);

/** @param {ReturnType<typeof influx>} db @param {string} testid */
async function seriesOf(db, testid) {
  const [{ values }] = await db.ask(`SHOW SERIES WHERE testid='${testid}'`);
  return /** @type {string[]} */ (values.flat());
}

/**
 * The operation that a series is about: by its tag, or by a name such as `samples: OPERATION` in it.
 * @param {string} series
 * @param {string[]} operations
 */
const operationOf = (series, operations) =>
  operations.find((name) => series.includes(`,operation=${name},`) || series.includes(`:\\ ${name},`));

/**
 * Sums over the run are those of the result, to the last request.
 * @param {ReturnType<typeof influx>} db
 * @param {string} testid
 * @param {any} result
 */
async function assertSums(db, testid, result) {
  for (const { name, requests, success, latency_ms: latency } of result.operations) {
    const where = `testid='${testid}' AND operation='${name}'`;
    // Where an iteration is a request and nothing else, k6's own count stands for items.
    const items = (await db.sum('count', 'operation_items', where)) || success;
    assert.deepEqual(
      {
        requests: await db.sum('count', 'operation_failed', where),
        failed: await db.sum('hits', 'operation_failed', where),
        latencies: await db.sum('count', 'operation_ms', where),
        inBuckets: await db.sum('count', 'operation_ms_bucket', where),
        items,
      },
      {
        requests,
        failed: requests - success,
        latencies: latency.count,
        inBuckets: latency.count,
        items: success,
      },
      name,
    );
  }
}

test('a run with 500 users: exact sums, few series, every measurement', async () => {
  const { outputs, influx: db, stop } = await database.start();
  const bench = startBench({ ONLY: 'panel/users-create', PROFILE: 'quick', ...outputs });
  try {
    assertFine(await bench.ended);
    assert.deepEqual(linesOf(bench.output), []);
    assert.match(
      bench.output.stdout,
      new RegExp(`^streaming to ${outputs.INFLUX}, database windtunnel$`, 'm'),
    );
    const testid = idOf(bench);
    const result = bench.result('panel-users-create');
    assert.equal(result.operations[0].requests, 500);
    await assertSums(db, testid, result);

    const series = await seriesOf(db, testid);
    assert.ok(series.length <= MOST_SERIES, `${series.length} series: ${series.join('\n')}`);
    const keys = new Set(series.flatMap((one) => one.split(',').slice(1)).map((pair) => pair.split('=')[0]));
    const known =
      'testid system scenario profile operation kind component section row change outcome le'.split(' ');
    known.push('process', 'role', 'threshold', 'check');
    assert.deepEqual(
      [...keys].filter((key) => !known.includes(key)),
      [],
    );

    const where = `WHERE testid='${testid}'`;
    const events = await db.rows(`SELECT kind, title, ended_ms FROM events ${where}`);
    assert.deepEqual(events.map(({ kind }) => kind).toSorted(), [
      'run_end',
      'run_start',
      'scenario',
      'start',
    ]);
    const [verdict] = await db.rows(`SELECT * FROM verdicts ${where}`);
    assert.equal(verdict.verdict, result.verdict);
    assert.equal(events.find(({ kind }) => kind === 'scenario')?.ended_ms, verdict.ended_ms);
    assert.ok(Math.abs(verdict.ended_ms - verdict.began_ms - verdict.seconds * 1000) <= 1);
    const [row] = await db.rows(`SELECT * FROM results ${where}`);
    const { p50, p99 } = result.operations[0].latency_ms;
    assert.deepEqual([row.requests, row.p50_ms, row.p99_ms], [500, p50, p99]);
    const thresholds = await db.rows(`SELECT * FROM thresholds ${where}`);
    assert.equal(thresholds.length, result.thresholds.length);
    assert.ok(thresholds.every(({ bound, ok }) => Number.isFinite(bound) && ok === 1));
    const checks = (await db.rows(`SELECT * FROM validity ${where}`)).map(({ check }) => check);
    assert.equal(checks.length, result.validity.length);
    const parts = await db.rows(`SELECT * FROM sections ${where} AND section='component'`);
    assert.ok(
      parts.some(({ row: part, share }) => part === 'database' && share > 0),
      JSON.stringify(parts),
    );
    const processes = await db.rows(
      `SELECT max(rss_bytes), max(cpu_percent) FROM processes ${where} GROUP BY process`,
    );
    assert.ok(
      processes.length >= 3 && processes.every((one) => one.max > 0 && one.max_1 > 0),
      JSON.stringify(processes),
    );
    const [host] = await db.rows(`SELECT max(busy_percent) AS busy, last(cpus) AS cpus FROM host ${where}`);
    assert.ok(host.busy > 0 && host.busy <= 100 && host.cpus >= 1);
  } finally {
    bench.remove();
    await stop();
  }
});

test('two runners do not write over each other: their points add up to what the relay got', async () => {
  const { outputs, influx: db, stop } = await database.start();
  const relay = await startRelay();
  const ENV = writeEnvironment(folder.path, openEntry(relay.url));
  const load = { ONLY: 'pulsar/concurrent', PROFILE: 'quick', MESSAGES: '4000', RUNNERS: '2' };
  const bench = startBench({ ENV, ...load, ...outputs });
  try {
    assertFine(await bench.ended);
    assert.deepEqual(linesOf(bench.output), []);
    await assertSums(db, idOf(bench), bench.result('pulsar-concurrent'));
    const where = `testid='${idOf(bench)}' AND operation='publish'`;
    const points = await db.ask(`SELECT count FROM operation_failed WHERE ${where} GROUP BY runner`, 'ms');
    const shares = points.map(({ tags, values }) => [
      tags?.runner,
      values.reduce((sum, [, n]) => sum + n, 0),
    ]);
    assert.deepEqual(shares, [
      ['1', 2000],
      ['2', 2000],
    ]);
    const sent = relay.truth.arrivals.filter(({ payload }) => payload.seq !== undefined);
    assert.equal(sent.length, 4000);
    const [one, other] = points.map(({ values }) => values.map(([time]) => time));
    assert.ok(
      one.some((time) => other.includes(time)),
      'no points of one time: without the tag, none would be written over',
    );
  } finally {
    bench.remove();
    await relay.stop();
    await stop();
  }
});

test('a data plane streams what its probes measure, and what they use', async () => {
  const { outputs, influx: db, stop } = await database.start();
  const bench = startBench({
    ONLY: 'dataplane/socks-tcp',
    PROFILE: 'soak', // by time: a fast machine is through with a number of round trips before CPU can be told
    DURATION: '3s',
    RATE: '100',
    TESTBED: 'sing-box',
    ...outputs,
  });
  try {
    assertFine(await bench.ended);
    assert.deepEqual(linesOf(bench.output), []);
    await assertSums(db, idOf(bench), bench.result('dataplane-socks-tcp'));
    const where = `WHERE testid='${idOf(bench)}'`;
    assert.ok((await db.sum('count', 'operation_items', `testid='${idOf(bench)}'`)) > 0);
    const rows = await db.rows(`SELECT process, role, cpu_percent FROM processes ${where}`);
    const names = new Set(rows.map(({ process, role }) => `${process} ${role}`));
    assert.deepEqual([...names].toSorted(), ['k6 generator', 'proxy system', 'sidecar generator']);
  } finally {
    bench.remove();
    await stop();
  }
});

test('a scenario of 48 operations has few series for each, and none is left out', async () => {
  const { outputs, influx: db, stop } = await database.start();
  const bench = startBench({
    ONLY: 'dataplane/throughput',
    PROFILE: 'smoke',
    WRITES: '1,64,256,1024', // those of the profile quick
    TRANSFER_MIB: '1',
    TESTBED: 'sing-box',
    ...outputs,
  });
  try {
    assertFine(await bench.ended);
    assert.deepEqual(linesOf(bench.output), []);
    const { operations } = bench.result('dataplane-throughput');
    const names = operations.map(({ name }) => name);
    assert.equal(names.length, 48);
    await assertSums(db, idOf(bench), bench.result('dataplane-throughput'));
    const series = await seriesOf(db, idOf(bench));
    for (const name of [...names, undefined]) {
      const own = series.filter((one) => operationOf(one, names) === name);
      const most = name ? MOST_OF_OPERATION : MOST_OF_SCENARIO;
      assert.ok(own.length > 0 && own.length <= most, `${name}: ${own.length} series: ${own.join('\n')}`);
    }
  } finally {
    bench.remove();
    await stop();
  }
});

test('what a probe measured is in the seconds in which it did, not at its end', async () => {
  const { outputs, influx: db, stop } = await database.start();
  // One probe of 5 s through the proxy, and one direct.
  const bench = startBench({
    ONLY: 'dataplane/socks-tcp',
    PROFILE: 'soak',
    DURATION: '10s',
    RATE: '200',
    TESTBED: 'sing-box',
    ...outputs,
  });
  try {
    assertFine(await bench.ended);
    assert.deepEqual(linesOf(bench.output), []);
    const result = bench.result('dataplane-socks-tcp');
    await assertSums(db, idOf(bench), result);
    for (const { name, success, window_s: window } of result.operations) {
      assert.equal(success, 1000, name);
      for (const [field, metric] of [
        ['count', 'operation_ms'],
        ['count', 'operation_failed'],
        ['count', 'operation_items'],
      ]) {
        const rows = await db.rows(
          `SELECT sum(${field}) AS had FROM ${metric} WHERE testid='${idOf(bench)}' AND operation='${name}' GROUP BY time(1s) fill(none)`,
        );
        const seconds = rows.filter(({ had }) => had > 0);
        const about = `${name}, ${metric}: ${JSON.stringify(seconds)} in ${window} s`;
        assert.ok(seconds.length >= Math.floor(window) && seconds.length <= Math.ceil(window) + 2, about);
        assert.ok(
          seconds.every(({ had }) => had < success / 2),
          about,
        );
        const times = seconds.map(({ time }) => time);
        assert.ok(Math.max(...times) - Math.min(...times) >= Math.floor(window) - 1, about);
      }
    }
  } finally {
    bench.remove();
    await stop();
  }
});

test('InfluxDB is killed in mid-run and comes back: all is sent again', async () => {
  let running = await database.start();
  const bench = startBench({
    ONLY: 'pulsar/ingest',
    PROFILE: 'soak',
    DURATION: '20s',
    RATE: '200',
    ...running.outputs,
  });
  try {
    const testid = idOf(bench);
    const where = `testid='${testid}' AND operation='publish_open'`;
    let seen = 0;
    const waits = patience(60_000);
    while (seen < 500 && waits()) {
      await sleep(200);
      seen = await running.influx.sum('count', 'operation_ms', where);
    }
    running.kill();
    await until(() => linesOf(bench.output).length > 0, 'the warning');
    await running.stop();
    running = await database.start();
    assertFine(await bench.ended);
    const lines = linesOf(bench.output);
    assert.match(lines[0], /^InfluxDB at http:\/\/127\.0\.0\.1:\d+ .*; start it/);
    assert.deepEqual(lines.slice(1), [
      'InfluxDB was away for a while; all was sent again, and nothing is missing in it',
    ]);
    await assertSums(running.influx, testid, bench.result('pulsar-ingest'));
    const seconds = await running.influx.rows(`SELECT count FROM operation_ms WHERE ${where}`);
    assert.ok(seconds.length >= 17, `${seconds.length} seconds`);
  } finally {
    bench.remove();
    await running.stop();
  }
});

test('InfluxDB is killed in mid-run and stays away: the run ends as it would have, and the gap is told', async () => {
  const running = await database.start();
  const bench = startBench({
    ONLY: 'pulsar/ingest',
    PROFILE: 'soak',
    DURATION: '10s',
    RATE: '100',
    ...running.outputs,
  });
  try {
    await until(() => bench.has('logs/pulsar-ingest.k6.log'), 'the load');
    await sleep(4000);
    running.kill();
    assertFine(await bench.ended);
    const lines = linesOf(bench.output);
    assert.equal(lines.length, 2, lines.join('\n'));
    const gap = /^InfluxDB misses \d+ seconds, from [\d:]{8} to [\d:]{8} UTC; the results are complete$/;
    assert.match(lines[1], gap);
    const record = JSON.parse(bench.files().find(({ name }) => name === 'run.json')?.text ?? '');
    assert.deepEqual(record.notes, [lines[1]]);
    const { success, requests } = bench.result('pulsar-ingest').operations[0];
    assert.ok(success === requests && success > 700, `${success} of ${requests}`);
  } finally {
    bench.remove();
    await running.stop();
  }
});

test('a server that refuses the login, is dead, or never answers: one warning, and the same end', async () => {
  const { outputs, stop } = await database.start();
  const relay = await startRelay({ delayMs: 2 });
  const ENV = writeEnvironment(folder.path, openEntry(relay.url));
  const slow = createServer(() => {});
  await new Promise((resolve) => slow.listen(0, '127.0.0.1', () => resolve(undefined)));
  const slowPort = /** @type {import('node:net').AddressInfo} */ (slow.address()).port;
  try {
    for (const [INFLUX, INFLUX_PASSWORD, pattern] of /** @type {[string, string, RegExp][]} */ ([
      [outputs.INFLUX, 'a-wrong-password', /refuses the login \(401: authorization failed\); mend/],
      ['http://127.0.0.1:1', database.password, /refuses connections; start it/],
      [`http://127.0.0.1:${slowPort}`, database.password, /does not answer within 2s/],
    ])) {
      const bench = startBench({ ENV, ONLY: 'pulsar/ingest', MESSAGES: '1000', INFLUX, INFLUX_PASSWORD });
      try {
        assertFine(await bench.ended);
        const lines = linesOf(bench.output);
        assert.equal(lines.length, 2, lines.join('\n'));
        assert.match(lines[0], pattern);
        assert.match(lines[1], /^InfluxDB misses \d+ seconds/);
        assert.equal(bench.result('pulsar-ingest').operations[0].success, 1000);
        for (const { name, text } of bench.files()) {
          assert.ok(!text.includes(INFLUX_PASSWORD), `${name} holds the password`);
        }
      } finally {
        bench.remove();
      }
    }
  } finally {
    slow.close();
    await relay.stop();
    await stop();
  }
});
