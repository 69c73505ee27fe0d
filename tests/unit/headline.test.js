import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headlineOf } from '../../lib/headline.js';

test('the report leads with what a comparison judges, unless a row says otherwise', () => {
  const of = (/** @type {Record<string, object>} */ rows) => {
    const headline = headlineOf(/** @type {any} */ (rows));
    return headline && [headline.operation, headline.figure];
  };
  assert.equal(of({ send: {}, wait: {} }), undefined);
  assert.deepEqual(of({ send: {}, wake: { primary: 'p50' }, deliver: { primary: 'p50' } }), [
    'wake',
    'p50_ms',
  ]);
  assert.deepEqual(of({ up: { primary: 'mbit_per_s' } }), ['up', 'mbit_per_s']);
  assert.deepEqual(of({ open: { primary: 'p50' }, last: { headline: 'rate_per_s' } }), [
    'last',
    'rate_per_s',
  ]);
});
