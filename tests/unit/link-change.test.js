/** A link that changes during a transfer: timetables, and courses with a known answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepsOf } from '../../lib/link/change.js';
import { CHANGES, madeAt, timetableOf } from '../../lib/link/changes.js';

const SIDE = { delay_ns: 40e6, jitter_ns: 0, rate_bit_s: 20e6, loss: 0 };
const SETTINGS = { up: { ...SIDE, rate_bit_s: 10e6 }, down: SIDE };
const [OUTAGE, HALF, DOUBLE] = CHANGES;

test('changes are items of the link at their times, of each direction by itself', () => {
  assert.equal(timetableOf(OUTAGE, SETTINGS, 4), '@4s/dead:yes,@6s/dead:no');
  assert.equal(timetableOf(HALF, SETTINGS, 4), '@4s/up.rate:5000kbit,@4s/down.rate:10000kbit');
  assert.equal(timetableOf(DOUBLE, SETTINGS, 4), '@4s/up.delay:80ms,@4s/down.delay:80ms');
});

test('a link without a rate, or without a delay, has nothing that could change', () => {
  const endless = { ...SIDE, rate_bit_s: null };
  const at_once = { ...SIDE, delay_ns: 0 };
  assert.equal(timetableOf(HALF, { up: SIDE, down: endless }, 4), null);
  assert.equal(timetableOf(DOUBLE, { up: at_once, down: at_once }, 4), null);
});

/** @param {number[]} at s after the link's start */
const link = (at) => ({
  began_unix_us: 1_000_000,
  every_ms: 100,
  from: 0,
  up: [],
  down: Array.from({ length: 60 }, (_, index) => ({
    queued_bytes_most: index === 32 ? 10 * 1024 : 0,
    delivered_bytes: 0,
    queue_dropped: 0,
    lost: 0,
    dead: 0,
  })),
  changes: at.map((at_s) => ({ at_s, items: /** @type {[string, string][]} */ ([]) })),
});

test('a change was made when the link says so, on the clock of the transfer', () => {
  // The transfer began half a second after the link did.
  assert.deepEqual(madeAt(OUTAGE, link([3, 5.01]), 1_500_000), { at: 2.5, until: 4.51 });
  assert.deepEqual(madeAt(HALF, link([3, 3]), 1_500_000), { at: 2.5, until: 2.5 });
  assert.equal(madeAt(HALF, link([]), 1_500_000), null);
  // After an outage without an end, there is no recovery to measure.
  assert.equal(madeAt(OUTAGE, link([3]), 1_500_000), null);
});

test('a course counts from the change, in whole steps, with the queue of the same moments', () => {
  // 8 Mbit/s until the change at 2.5 s, then nothing until 5.3 s.
  const bytes = Array.from({ length: 53 }, (_, index) => (index < 25 ? 100_000 : 0));
  const steps = stepsOf({ bytes, bucketS: 0.1 }, link([3]), 2.5, 1_500_000);
  assert.deepEqual(
    steps.map(({ from_s: from }) => from),
    [-2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2],
  );
  assert.ok(steps.every(({ mbit }, index) => Math.abs(mbit - (index < 5 ? 8 : 0)) < 1e-9));
  // The link's 33rd sample is at 3.2 s: 0.2 s after the change.
  assert.deepEqual(
    steps.map(({ queue_kib: queue }) => queue),
    [0, 0, 0, 0, 0, 10, 0, 0, 0, 0],
  );
});
