/** The points of the run: sums of every scenario of the relay, the panel and the data plane, and every measurement of one. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { influx } from '../../support/influx.js';
import { smokeRun } from '../../support/smoke-run.js';
import { assertSums, seriesOf } from '../../support/streamed.js';

/** Series of panel/users-create, at most. */
const MOST_SERIES = 400;
const KEYS =
  'testid system scenario profile operation kind component section row change outcome le process role threshold check';

/** @type {import('../../support/smoke-run.js').Smoke['run']} */
let run;
/** @type {ReturnType<typeof influx>} */
let db;
/** @type {Record<string, string>} */
let outputs;
let testid = '';
before(async () => {
  const smoke = await smokeRun();
  ({ run } = smoke);
  outputs = smoke.influx;
  db = influx(outputs);
  testid = String(run.folder.split('/').at(-1));
});

test('streaming: sums are those of each result, to the last request', async () => {
  const names = run
    .files()
    .flatMap(({ path }) => /^((?:pulsar|panel|dataplane)-.*)\.json$/.exec(path)?.[1] ?? []);
  assert.ok(names.length >= 19, names.join());
  for (const name of names) await assertSums(db, testid, run.result(name));
});

test('streaming: a scenario has few series, and every measurement', async () => {
  const target = new RegExp(`^streaming to ${outputs.INFLUX}, database windtunnel$`, 'm');
  assert.match(run.output.stdout, target);
  assert.doesNotMatch(run.output.stderr, /InfluxDB/);
  const result = run.result('panel-users-create');
  const own = `testid='${testid}' AND system='panel' AND scenario='users-create'`;
  const where = `WHERE ${own}`;
  const series = await seriesOf(db, own);
  assert.ok(series.length <= MOST_SERIES, `${series.length} series: ${series.join('\n')}`);
  const keys = new Set(series.flatMap((one) => one.split(',').slice(1)).map((pair) => pair.split('=')[0]));
  assert.deepEqual(
    [...keys].filter((key) => !KEYS.split(' ').includes(key)),
    [],
  );

  const events = await db.rows(`SELECT kind, title, ended_ms FROM events ${where}`);
  assert.deepEqual(events.map(({ kind }) => kind).toSorted(), ['scenario', 'start']);
  const ofRun = await db.rows(`SELECT kind, title FROM events WHERE testid='${testid}' AND kind =~ /^run_/`);
  assert.deepEqual(ofRun.map(({ kind }) => kind).toSorted(), ['run_end', 'run_start']);
  const [verdict] = await db.rows(`SELECT * FROM verdicts ${where}`);
  assert.equal(verdict.verdict, result.verdict);
  assert.equal(events.find(({ kind }) => kind === 'scenario')?.ended_ms, verdict.ended_ms);
  assert.ok(Math.abs(verdict.ended_ms - verdict.began_ms - verdict.seconds * 1000) <= 1);
  const [row] = await db.rows(`SELECT * FROM results ${where}`);
  const [{ requests, latency_ms: latency }] = result.operations;
  assert.deepEqual([row.requests, row.p50_ms, row.p90_ms], [requests, latency.p50, latency.p90]);
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
});
