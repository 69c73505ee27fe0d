import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Operation } from '../../lib/operations.js';
import { samples } from '../fakes/k6-record.js';

beforeEach(() => {
  samples.length = 0;
});

/** @param {string} metric */
const valuesOf = (metric) => samples.filter((sample) => sample.metric === metric).map(({ value }) => value);

test('a success has a latency and an item unless they are given; a failure a kind and no latency', () => {
  const send = new Operation('send');
  send.success(100, 103);
  send.success(103, 110, 5, 50);
  send.failure('http_429', 110, 111);
  assert.deepEqual(valuesOf('operation_ms'), [3, 5]);
  assert.deepEqual(valuesOf('operation_items'), [1, 50]);
  assert.deepEqual(valuesOf('operation_failed'), [false, false, true]);
  const [error] = samples.filter(({ metric }) => metric === 'operation_errors');
  assert.deepEqual([error.value, error.tags], [1, { operation: 'send', kind: 'http_429' }]);
});
