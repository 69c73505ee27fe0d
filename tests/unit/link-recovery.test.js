/** What a transfer did around a change of its link, by courses whose answer is known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueFrom } from '../../lib/link/over-time.js';
import { bytesLost, mbitBetween, recoveryOf } from '../../lib/link/recovery.js';

/** So many Mbit/s for so long, in buckets of 0.1 s. @param {[number, number][]} parts */
const course = (...parts) => ({
  bucketS: 0.1,
  bytes: parts.flatMap(([mbit, seconds]) =>
    Array.from({ length: Math.round(seconds * 10) }, () => (mbit * 1e6) / 8 / 10),
  ),
});

test('goodput is that of the time asked for', () => {
  const both = course([10, 2], [4, 2]);
  assert.ok(Math.abs(mbitBetween(both, 0, 2) - 10) < 1e-9);
  assert.ok(Math.abs(mbitBetween(both, 1, 3) - 7) < 1e-9);
  assert.equal(mbitBetween(both, 9, 10), 0);
});

test('after an outage the time counts from when the link is back', () => {
  const { before, after, recoveredS, silentS } = recoveryOf(course([10, 3], [0, 3.5], [10, 5]), {
    at: 3,
    until: 5,
  });
  assert.ok(Math.abs(before - 10) < 1e-9 && Math.abs(after - 10) < 1e-9);
  // 1.5 s more of nothing: a second of which 0.2 s are silent has 80 %.
  assert.ok(recoveredS !== null && Math.abs(recoveredS - 1.3) < 0.051, String(recoveredS));
  assert.ok(Math.abs(silentS - 3.5) < 1e-9);
});

test('a rate that halves is followed at once by who has half, and not by who has a third', () => {
  const halved = { at: 3, until: 3, rate: 0.5 };
  assert.equal(recoveryOf(course([10, 3], [5, 5]), halved).recoveredS, 0);
  assert.equal(recoveryOf(course([10, 3], [3, 5]), halved).recoveredS, null);
});

test('a transfer that never comes back, or carried nothing before, has not recovered', () => {
  const outage = { at: 3, until: 5 };
  assert.equal(recoveryOf(course([10, 3], [0, 8]), outage).recoveredS, null);
  assert.equal(recoveryOf(course([0, 3], [10, 8]), outage).recoveredS, null);
});

test('a short burst is no recovery', () => {
  const bursts = course([10, 3], [0, 2], [10, 0.5], [0, 3], [10, 3]);
  const { recoveredS } = recoveryOf(bursts, { at: 3, until: 5 });
  assert.ok(recoveredS !== null && recoveredS > 3, String(recoveredS));
});

test('bytes are lost with tunnels that died alone', () => {
  const died = { kind: 'closed', at_s: 1 };
  const tunnels = [
    { sent: 100, received: 60, died },
    { sent: 100, received: 10, died: null },
    { sent: 5, received: 6, died },
  ];
  assert.equal(bytesLost(tunnels), 40);
});

test('the queue of a transfer is that of the same moments', () => {
  const sample = (/** @type {number} */ most) => ({
    queued_bytes_most: most,
    delivered_bytes: 0,
    queue_dropped: 0,
    lost: 0,
    dead: 0,
  });
  const link = {
    began_unix_us: 1_000_000,
    every_ms: 100,
    from: 2,
    up: [],
    down: [20, 30, 40].map(sample),
    changes: [],
  };
  // Samples 0 and 1 are not kept any more; the transfer began with sample 1.
  assert.deepEqual(queueFrom(link, 'down', 1_100_000, 5), [0, 20, 30, 40, 0]);
});
