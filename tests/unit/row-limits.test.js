/** Effects of limits on a row: its outcome, its figures in a turn, and the table of all rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf } from '../../lib/protocols/compare.js';
import { limitsSections, noteLimits, withKills } from '../../lib/protocols/limited.js';
import { rowsOf } from '../support/sections.js';

/** @type {any} */ (globalThis).__ENV = {};
const { limitParameter } = await import('../../lib/sidecar.js');

const MIB = 2 ** 20;

/** @param {object} effects */
const state = (effects) => ({
  limits: /** @type {any} */ ({
    text: 'cpu:50%,memory:64mib',
    cpu_percent: 50,
    memory_bytes: 64 * MIB,
    periods: 0,
    throttled_periods: 0,
    throttled_s: 0,
    peak_memory_bytes: null,
    killed: 0,
    ...effects,
  }),
});
const none = { limits: null };

test('limits of a run are its parameter, and limits of others are none', () => {
  const of = (/** @type {any} */ limits) => limitParameter(/** @type {any} */ ({ limits }));
  assert.deepEqual(of({ system: { text: 'cpu:50%' }, generator: null }), { limits: 'cpu:50%' });
  assert.deepEqual([of({ system: null, generator: { cpu_percent: 50 } }), limitParameter(null)], [{}, {}]);
});

test('a kill for memory is the outcome, with its number, whatever the probes met', () => {
  const ended = /** @type {const} */ ({ outcome: 'corrupted payload', detail: '3 × corrupted', busy: true });
  assert.deepEqual(withKills(ended, [state({}), none, null]), ended);
  assert.deepEqual(withKills(ended, [state({ killed: null })]), ended, 'an unknown number is none');
  assert.deepEqual(withKills(ended, [state({ killed: 1 }), state({ killed: 2 })]), {
    outcome: 'killed for memory',
    detail: '3 times at cpu:50%,memory:64mib; 3 × corrupted',
    killed: 3,
  });
  const measured = /** @type {const} */ ({ outcome: 'measured', detail: null });
  const told = withKills(measured, [state({ killed: 1 })]);
  assert.equal(told.detail, '1 time at cpu:50%,memory:64mib', 'of a child that the row does not need');
});

test('periods of a turn count from its start, and those of two hops and of many tunnels are added', () => {
  const began = [state({ periods: 5, throttled_periods: 5, throttled_s: 0.5 }), state({})];
  const ended = [
    state({ periods: 25, throttled_periods: 10, throttled_s: 1, peak_memory_bytes: 40 * MIB }),
    state({ periods: 10, throttled_periods: 1, throttled_s: 0.25, peak_memory_bytes: 50 * MIB, killed: 1 }),
  ];
  /** @type {import('../../lib/protocols/compare.js').Turn} */
  const figures = {};
  noteLimits(figures, began, ended);
  const found = {
    limits_periods: 30,
    limits_throttled_periods: 6,
    limits_throttled_s: 0.75,
    limits_peak_mib: 50,
    limits_killed: 1,
  };
  assert.deepEqual(figures, found);
  noteLimits(figures, [state({})], [state({ periods: 1, peak_memory_bytes: 2 * MIB })]);
  assert.deepEqual(figures, { ...found, limits_periods: 31 });
});

test('an unknown number of kills stays unknown', () => {
  /** @type {import('../../lib/protocols/compare.js').Turn} */
  const figures = {};
  noteLimits(figures, [state({}), state({})], [state({ killed: null }), state({ killed: 1 })]);
  assert.equal(figures.limits_killed, null);
});

test('a turn without limits, or of an instance that does not answer, has no figures', () => {
  const figures = {};
  noteLimits(figures, [none, state({})], [none, null]);
  assert.deepEqual(figures, {});
  noteLimits(figures, [state({ memory_bytes: null })], [state({ memory_bytes: null, periods: 3 })]);
  assert.deepEqual(Object.keys(figures), [
    'limits_periods',
    'limits_throttled_periods',
    'limits_throttled_s',
  ]);
});

/** @param {object[]} turns @param {number} [killed] */
const side = (turns, killed) => ({
  outcome: 'measured',
  figures: figuresOf(/** @type {any} */ (turns)),
  ...(killed ? { killed } : {}),
});

/** @param {object[]} rows @param {object | null} [candidate] */
const sections = (rows, candidate = null) => limitsSections(/** @type {any} */ ({ rows, candidate }));

test('the table has the columns of the limits that were set, and kills at a start', () => {
  assert.deepEqual(sections([{ row: 'socks', baseline: side([{ rtt_ms: 1 }]), candidate: null }]), []);
  const [cpu] = sections([
    { row: 'socks', baseline: side([{ limits_periods: 4, limits_throttled_periods: 2 }]), candidate: null },
  ]);
  assert.deepEqual(
    cpu.columns.map(({ title }) => title),
    ['Protocol', 'Periods', 'Throttled periods'],
  );
  const memory = { limits_peak_mib: 8, limits_killed: 0 };
  const rows = [{ row: 'vless', baseline: side([memory]), candidate: side([], 2) }];
  const [table] = sections(rows, {});
  assert.deepEqual(rowsOf(table), [
    {
      row: 'vless',
      baseline_limits_peak_mib: { value: 8, low: 8, high: 8 },
      baseline_limits_killed: 0,
      candidate_limits_peak_mib: null,
      candidate_limits_killed: 2,
    },
  ]);
});
