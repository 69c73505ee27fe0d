/** Bounds of scenarios in which a late answer is no error of the row: a row without latencies must not pass. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundWhole } from '../../lib/link/rows.js';
import { rowOperation } from '../../lib/protocols/row-operation.js';

const OPERATIONS = { trojan: rowOperation('trojan'), tuic: rowOperation('tuic') };
/** @param {Record<string, Record<string, number>>} change */
const bounded = (change) => boundWhole(OPERATIONS, /** @type {any} */ ({ thresholds: { change } }), 'change');

test('who bounds a latency asks that there is one, and that nothing failed', () => {
  const { trojan, tuic } = bounded({ trojan: { max: 4000 } });
  assert.deepEqual([trojan.optional, trojan.bounds], [false, { failed: 1, errors: 0 }]);
  assert.deepEqual(tuic, OPERATIONS.tuic);
});

test('a share that may fail is taken in place of it, and without a bound on a latency all is as it was', () => {
  assert.deepEqual(bounded({ trojan: { 'p(50)': 300, failed: 0.1 } }).trojan.bounds, {
    failed: 1,
    errors: undefined,
  });
  assert.deepEqual(bounded({ trojan: { errors: 0 } }).trojan, OPERATIONS.trojan);
  assert.deepEqual(boundWhole(OPERATIONS, /** @type {any} */ ({ thresholds: {} }), 'change'), OPERATIONS);
});
