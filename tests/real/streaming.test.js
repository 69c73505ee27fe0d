/** The points that `k6 x bench` streams to Debian's InfluxDB. An unreachable one spoils nothing. tests/real/smoke has sums of all scenarios. */
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
import { assertSums, seriesOf } from '../support/streamed.js';

/** Most sets of tags in a run without errors, of a scenario and of each operation (docs/reference/streaming.md). */
const MOST_OF_SCENARIO = 80;
const MOST_OF_OPERATION = 80;

const folder = temporaryFolder('streaming');
let /** @type {Awaited<ReturnType<typeof startSidecar>>} */ sidecar;

/** An InfluxDB that keeps its data, port and password after a restart. */
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

/** One InfluxDB serves all tests; the last two tests kill it. @type {Awaited<ReturnType<typeof database.start>>} */
let running;
before(async () => {
  sidecar = await startSidecar(`${folder.path}/logs`, { INFLUX_PASSWORD: database.password });
  running = await database.start();
});
after(async () => {
  await sidecar.stop();
  folder.remove();
});

/** @param {{ stderr: string }} output */
const linesOf = ({ stderr }) => stderr.split('\n').filter((line) => line !== '');

/** @param {{ folder: string }} bench */
const idOf = (bench) => /** @type {string} */ (bench.folder.split('/').at(-1));

/** A busy machine may make a run inconclusive; no other fault is allowed. @param {unknown} code */
const assertFine = (code) => assert.ok(code === 0 || code === 3, `exit code ${code}`);

/**
 * The operation that a series is about: by its tag, or by a name such as `samples: OPERATION` in it.
 * @param {string} series
 * @param {string[]} operations
 */
const operationOf = (series, operations) =>
  operations.find((name) => series.includes(`,operation=${name},`) || series.includes(`:\\ ${name},`));

test('two runners do not write over each other: their points add up to what the relay got', async () => {
  const { outputs, influx: db } = running;
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
  }
});

test('a scenario of 48 operations has few series for each, and none is left out', async () => {
  const { outputs, influx: db } = running;
  const bench = startBench({
    ONLY: 'dataplane/throughput',
    PROFILE: 'smoke',
    WRITES: '1,64,256,1024', // the values of the profile quick
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
    const series = await seriesOf(db, `testid='${idOf(bench)}'`);
    for (const name of [...names, undefined]) {
      const own = series.filter((one) => operationOf(one, names) === name);
      const most = name ? MOST_OF_OPERATION : MOST_OF_SCENARIO;
      assert.ok(own.length > 0 && own.length <= most, `${name}: ${own.length} series: ${own.join('\n')}`);
    }
  } finally {
    bench.remove();
  }
});

test('what a probe measured is in the seconds in which it did, not at its end, and what it used is there', async () => {
  const { outputs, influx: db } = running;
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
    const used = await db.rows(
      `SELECT process, role, cpu_percent FROM processes WHERE testid='${idOf(bench)}'`,
    );
    const names = new Set(used.map(({ process, role }) => `${process} ${role}`));
    assert.deepEqual([...names].toSorted(), ['k6 generator', 'proxy system', 'sidecar generator']);
  } finally {
    bench.remove();
  }
});

test('a server that refuses the login, is dead, or never answers: one warning, and the same end', async () => {
  const { outputs } = running;
  const relay = await startRelay({ delayMs: 2 });
  const ENV = writeEnvironment(folder.path, openEntry(relay.url));
  const slow = createServer(() => {});
  await new Promise((resolve) => slow.listen(0, '127.0.0.1', () => resolve(undefined)));
  const slowPort = /** @type {import('node:net').AddressInfo} */ (slow.address()).port;
  try {
    for (const [INFLUX, INFLUX_PASSWORD, pattern] of /** @type {[string, string, RegExp][]} */ ([
      [outputs.INFLUX, 'a-wrong-password', /refuses the login \(401: authorization failed\); fix/],
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
  }
});

test('InfluxDB is killed in mid-run and comes back: all is sent again', async () => {
  const relay = await startRelay({ delayMs: 2 });
  const bench = startBench({
    ENV: writeEnvironment(folder.path, openEntry(relay.url)),
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
      'InfluxDB was unreachable for a while; all points were sent again, and none is missing',
    ]);
    await assertSums(running.influx, testid, bench.result('pulsar-ingest'));
    const seconds = await running.influx.rows(`SELECT count FROM operation_ms WHERE ${where}`);
    assert.ok(seconds.length >= 17, `${seconds.length} seconds`);
  } finally {
    bench.remove();
    await relay.stop();
  }
});

test('InfluxDB is killed in mid-run and stays away: the run ends as it would have, and the gap is told', async () => {
  const relay = await startRelay({ delayMs: 2 });
  const bench = startBench({
    ENV: writeEnvironment(folder.path, openEntry(relay.url)),
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
    await relay.stop();
  }
});
