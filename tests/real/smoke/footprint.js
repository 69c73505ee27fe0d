/** Starts, reloads and idle times of sing-box, and a start and a reload of xray. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBench } from '../../support/bench.js';
import { reasonsOf } from '../../support/reasons.js';
import { rowsOf, sectionOf } from '../../support/sections.js';
import { smokeRun } from '../../support/smoke-run.js';

const LEVELS = [0, 1000];

/** @param {any} result */
function assertSound(result) {
  assert.notEqual(result.verdict, 'fail', reasonsOf(result).join('\n'));
}

/** Each level has all figures, and a reload ends each tunnel in one of two ways. @param {any} result @param {RegExp} reload its finding */
function assertStart(result, reload) {
  assertSound(result);
  const starts = rowsOf(sectionOf(result, 'start'));
  assert.deepEqual(
    starts.map(({ rules }) => rules),
    LEVELS,
  );
  for (const {
    start_ms: start,
    listen_ms: listen,
    own_mib: own,
    connect_ms: address,
    name_ms: name,
  } of starts)
    for (const one of [start, listen, own, address, name]) assert.ok(one.value > 0, JSON.stringify(starts));
  const reloads = sectionOf(result, 'reload');
  assert.match(reloads.finding, reload);
  const rows = rowsOf(reloads);
  assert.equal(rows.length, LEVELS.length);
  for (const { ends, tunnels, dropped, reloads: times } of rows) {
    assert.match(ends, /^\d+ × closed(, \d+ × connection_reset)?$|^\d+ × connection_reset, \d+ × closed$/);
    const counts = [...ends.matchAll(/(\d+) ×/g)].map(([, count]) => Number(count));
    const all = counts.reduce((sum, count) => sum + count, 0);
    assert.deepEqual([dropped.value, all], [tunnels, tunnels * times]);
  }
}

test('footprint/start: sing-box starts with each number of rules, and SIGHUP ends each tunnel', async () =>
  assertStart((await smokeRun()).run.result('footprint-start'), /^SIGHUP: 64 of 64 tunnels were dropped/));

test('each scenario shows what a process of the system held before its load and after it', async () => {
  const { run } = await smokeRun();
  const lacking = run.result('run').scenarios.flatMap((/** @type {any} */ { system, scenario, result }) => {
    if (!result) return [];
    const { held, held_by_rows: rows = [] } = run.result(`${system}-${scenario}`);
    const all = [held, ...rows.map((/** @type {any} */ row) => row.held)].filter(Boolean);
    const read = all.flatMap(({ processes }) => processes).filter(({ before, after }) => before && after);
    return read.length > 0 ? [] : [`${system}/${scenario}`];
  });
  assert.deepEqual(lacking, []);
});

test('footprint/idle: 50 idle tunnels and 50 idle associations of sing-box carry data after it', async () => {
  const result = (await smokeRun()).run.result('footprint-idle');
  assertSound(result);
  const rows = rowsOf(sectionOf(result, 'idle'));
  assert.deepEqual(
    rows.map(({ count, answered }) => [count, answered]),
    [
      [0, '50 of 50'],
      [50, '50 of 50'],
      [50, '50 of 50'],
    ],
  );
});

test('footprint/start: xray starts with each number of rules, and a restart ends each tunnel', async () => {
  const bench = startBench({
    ONLY: 'footprint/start',
    PROFILE: 'smoke',
    TESTBED: 'xray',
    RULES: LEVELS.join(','),
    TURNS: '1',
    RELOADS: '1',
  });
  try {
    await bench.ended;
    assert.ok(bench.has('footprint-start.json'), bench.output.stdout + bench.output.stderr);
    assertStart(bench.result('footprint-start'), /^A restart: 64 of 64 tunnels were dropped/);
  } finally {
    bench.remove();
  }
});
