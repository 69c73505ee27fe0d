/** A transfer around a change of its link, with courses whose answer is known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueFrom } from '../../lib/link/over-time.js';
import { bytesLost, mbitBetween, recoveryOf } from '../../lib/link/recovery.js';

/** A course in buckets of 0.1 s. @param {[number, number][]} parts pairs of Mbit/s and seconds */
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
  // The silence lasted 1.5 s longer.
  assert.ok(recoveredS !== null && Math.abs(recoveredS - 1.5) < 0.051, String(recoveredS));
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

test('what comes at once after a silence has not come before it', () => {
  const { recoveredS } = recoveryOf(course([10, 3], [0, 2.7], [90, 0.1], [10, 4]), { at: 3, until: 5 });
  assert.ok(recoveredS !== null && Math.abs(recoveredS - 0.7) < 0.051, String(recoveredS));
});

test('what came at once before a change is no rate to come back to', () => {
  const burst = course([10, 3], [60, 0.5], [10, 1.5], [0, 2], [10, 5]);
  const outage = { at: 5, until: 7 };
  assert.equal(recoveryOf(burst, outage).recoveredS, null);
  assert.equal(recoveryOf(burst, { ...outage, lineMbit: 10 }).recoveredS, 0);
  assert.equal(recoveryOf(burst, { ...outage, lineMbit: null }).recoveredS, null);
});

test('a transfer that goes on for a while and stops then has not recovered', () => {
  const { after, recoveredS } = recoveryOf(course([10, 3], [10, 4], [0, 3]), { at: 3, until: 3 });
  assert.deepEqual([after, recoveredS], [0, null]);
});

test('a change that is felt late counts from the last whole second of silence on', () => {
  const late = recoveryOf(course([10, 3], [5, 2], [0, 2.5], [5, 4]), { at: 3, until: 3, rate: 0.5 });
  assert.ok(late.recoveredS !== null && Math.abs(late.recoveredS - 4.5) < 0.051, String(late.recoveredS));
  // Half a second of silence can be one retransmitted packet.
  const short = recoveryOf(course([10, 3], [5, 2], [0, 0.5], [5, 4]), { at: 3, until: 3, rate: 0.5 });
  assert.equal(short.recoveredS, 0);
});

test('who looks for a second alone looks at what came after the change', () => {
  const { after, recoveredS } = recoveryOf(course([10, 3], [0, 2], [10, 1]), { at: 3, until: 5 });
  assert.ok(Math.abs(after - 10) < 1e-9);
  assert.equal(recoveredS, 0);
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
  // Samples 0 and 1 are no longer kept. The transfer began with sample 1.
  assert.deepEqual(queueFrom(link, 'down', 1_100_000, 5), [0, 20, 30, 40, 0]);
});
