/** Starts, reloads and idle times of sing-box. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSound, assertStart } from '../../support/footprint-smoke.js';
import { rowsOf, sectionOf } from '../../support/sections.js';
import { smokeRun } from '../../support/smoke-run.js';

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
