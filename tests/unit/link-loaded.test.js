/** Latency under load: figures computed from samples with a known answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadedSections, tripsAtRest } from '../../lib/link/loaded-shown.js';
import { missingOf, recordedLoad } from '../../lib/link/loaded.js';
import { begunIn, loadsOf, recordedOf, tripsOf, waitMs } from '../../lib/link/loads.js';
import { perMinute, responsiveness, trimmedMean } from '../../lib/link/rpm.js';
import { rowsOf } from '../support/sections.js';

test('the slowest of 20 is left out of a trimmed mean, and one alone is kept', () => {
  const nineteen = Array.from({ length: 19 }, () => 100);
  assert.equal(trimmedMean([...nineteen, 9000]), 100);
  assert.equal(trimmedMean([7]), 7);
  assert.equal(trimmedMean([]), null);
});

test('what never came is among the slowest, and where it is more than these, nobody knows the mean', () => {
  const nineteen = Array.from({ length: 19 }, () => 100);
  assert.equal(trimmedMean(nineteen, 1), 100);
  assert.equal(trimmedMean(nineteen, 3), null);
  // Half of the requests were lost: the mean of the others would be misleading.
  assert.equal(trimmedMean([1, 1, 1], 3), null);
  assert.equal(trimmedMean([], 40), null);
});

test('round trips a minute are those of the draft', () => {
  assert.equal(perMinute(100), 600);
  assert.equal(perMinute(null), null);
  assert.equal(perMinute(0), null);
  // Both values are first converted into round trips per minute, and then averaged.
  assert.equal(responsiveness(100, 600, 3), (600 + 300) / 2);
  assert.equal(responsiveness(null, 600, 3), null);
  assert.equal(responsiveness(100, null, 3), null);
  assert.equal(responsiveness(100, 600, null), null);
});

test('loads are an axis from most upwards to most downwards', () => {
  const titles = loadsOf([8, 1, 8]).map(({ title }) => title);
  assert.deepEqual(titles, ['8 up', '1 up', 'at rest', '1 down', '8 down']);
  assert.equal(recordedLoad(loadsOf([8, 1]))?.title, '1 down');
});

test('a sample counts by when it was meant to begin', () => {
  const at = 1_700_000_000_000;
  // They took 50 ms each, and began at 0, 100 and 200 ms.
  const series = { values: [50e6, 50e6, 50e6], ends: [at + 50, at + 150, at + 250] };
  assert.equal(begunIn(series, { from: at, to: at + 200 }).length, 2);
  assert.equal(begunIn(series, { from: at + 1, to: at + 201 }).length, 2);
  assert.deepEqual(begunIn(series, { from: at + 300, to: at + 400 }), []);
  assert.deepEqual(begunIn(series, { from: at, to: at + 1 }), [{ ms: 50, end: at + 50 }]);
});

test('what ended after its load is counted', () => {
  const samples = [10, 20, 30].map((end) => ({ ms: 5, end }));
  assert.deepEqual(
    [tripsOf(samples, 0).outlasted, tripsOf(samples, 0, 20).outlasted, tripsOf(samples, 0, 9).outlasted],
    [0, 1, 3],
  );
});

test('what a load made late has failed, and what broke is no lateness', () => {
  const measured = /** @type {any} */ ({
    outcome: { errors: { timeout: 3, cut: 1, closed: 2 } },
    values: { round_trip: [50e6, 60e6, 70e6] },
    ends: { round_trip: [1_050, 1_160, 2_070] },
  });
  // The last request began after the measured part.
  assert.deepEqual(recordedOf(measured, { from: 1_000, to: 2_000 }), {
    series: { values: { round_trip: [50e6, 60e6] }, ends: { round_trip: [1_050, 1_160] } },
    late: { timeout: 3, cut: 1 },
  });
});

test('a queue lasts as long as its line takes for it', () => {
  assert.equal(waitMs(1_000_000, 10e6), 800);
  assert.equal(waitMs(1_000_000, null), null);
});

const LOADS = loadsOf([1]);
/** @param {number | null} ms @param {number} [failed] */
const trips = (ms, failed = 0) =>
  tripsOf(ms === null ? [] : [ms, ms].map((one) => ({ ms: one, end: 0 })), failed);
/** @param {number | null} same @param {number | null} kept @param {number | null} fresh */
const cell = (same, kept, fresh) => ({
  goodput: same === null ? null : 9.5,
  died: 0,
  queue_ms: 700,
  same: same === null ? null : trips(same),
  kept: trips(kept),
  fresh: trips(fresh, 1),
});
/** Opening a tunnel takes three round trips of 40 ms. A download adds 800 ms to each. */
const CELLS = { rest: cell(null, 40, 120), down_1: cell(840, 840, 2520), up_1: cell(50, 45, 140) };

test('a table has each figure in ms and in round trips a minute', () => {
  assert.equal(tripsAtRest(CELLS), 3);
  const [table, same, fresh] = loadedSections([{ name: 'trojan', title: 'trojan', cells: CELLS }], LOADS, []);
  const rows = rowsOf(table);
  assert.deepEqual(
    rows.map(({ of }) => of),
    ['trojan, 1 up', 'trojan, at rest', 'trojan, 1 down'],
  );
  const [, rest, down] = rows;
  assert.deepEqual(
    [rest.same_ms, rest.kept_ms, rest.fresh_ms, rest.trips, rest.rpm],
    [null, 40, 120, 3, 1500],
  );
  assert.equal(down.same_rpm, 60_000 / 840);
  // A new tunnel's three round trips took 840 ms each.
  assert.ok(Math.abs(down.rpm - 60_000 / 840) < 1e-9);
  assert.equal(down.failed, 1);
  assert.deepEqual(
    rowsOf(same).map(({ load, trojan }) => [load, trojan]),
    [
      ['1 up', 50],
      ['at rest', 40],
      ['1 down', 840],
    ],
  );
  assert.deepEqual(
    rowsOf(fresh).map(({ trojan }) => trojan),
    [140, 120, 2520],
  );
});

test('what has not a single answer was not measured, and is told by its load', () => {
  assert.equal(missingOf(CELLS, LOADS), undefined);
  assert.match(
    String(missingOf({ ...CELLS, down_1: cell(null, 840, 2520) }, LOADS)),
    /^too few requests on loaded tunnels were answered beside 1 down: 0, and 0 late or lost$/,
  );
  assert.match(
    String(missingOf({ ...CELLS, up_1: cell(840, 840, null) }, LOADS)),
    /new tunnels .* beside 1 up: 0, and 1 late/,
  );
  assert.match(
    String(missingOf({ ...CELLS, rest: cell(null, null, 120) }, LOADS)),
    /^too few requests on another tunnel were answered at rest: 0, /,
  );
});

test('a figure that nobody knows was not measured, however fast a few answers were', () => {
  const few = { ...cell(40, 840, 2520), same: trips(40, 2) };
  assert.match(String(missingOf({ ...CELLS, down_1: few }, LOADS)), /beside 1 down: 2, and 2 late or lost$/);
});

test('a same tunnel without one answer is as missing as one that is not there', () => {
  const mute = { ...cell(840, 840, 2520), same: trips(null, 40) };
  assert.match(
    String(missingOf({ ...CELLS, down_1: mute }, LOADS)),
    /loaded tunnels .* beside 1 down: 0, and 40 late/,
  );
  const others = { rest: CELLS.rest, up_1: CELLS.up_1 };
  assert.match(String(missingOf(others, LOADS)), /beside 1 down: 0, and 0 late or lost$/);
});
