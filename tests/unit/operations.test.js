import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Operation } from '../../lib/operations.js';
import { samples } from '../fakes/k6-metrics.js';

beforeEach(() => {
  samples.length = 0;
});

/** @param {string} metric */
const valuesOf = (metric) => samples.filter((sample) => sample.metric === metric).map(({ value }) => value);

test('a success has a latency, an item and an end; a failure a kind and no latency', () => {
  const send = new Operation('send');
  send.success(100, 103);
  send.success(103, 110, 5, 50);
  send.failure('http_429', 110, 111);
  assert.deepEqual(valuesOf('operation_ms'), [3, 5]);
  assert.deepEqual(valuesOf('operation_items'), [1, 50]);
  assert.deepEqual(valuesOf('operation_failed'), [false, false, true]);
  assert.deepEqual(valuesOf('operation_clock_ms'), [100, 103, 110, 111]);
  const [error] = samples.filter(({ metric }) => metric === 'operation_errors');
  assert.deepEqual([error.value, error.tags], [1, { operation: 'send', kind: 'http_429' }]);
});

test('ends of whole iterations are thinned to one in 100 ms, but the first start and the last end stay', () => {
  const send = new Operation('send', { planned: 1000, items: false });
  for (let index = 0; index < 1000; index += 1) send.success(index, index + 1);
  const clocks = valuesOf('operation_clock_ms').map(Number);
  assert.deepEqual([Math.min(...clocks), Math.max(...clocks)], [0, 1000]);
  assert.ok(clocks.length < 15, `${clocks.length} samples`);
  assert.deepEqual(valuesOf('operation_items'), [], 'k6 counts them as iterations');
  assert.equal(samples[0].tags, undefined, 'k6 tags them');
});
