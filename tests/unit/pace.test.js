import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intendedOffset } from '../../lib/pace.js';

/** Starts of all iterations by brute force: integrate the rate in steps of 10 µs. */
function byIntegration({ start, steps }) {
  const starts = [];
  const dt = 1e-5;
  let area = 0;
  let at = 0;
  let from = start;
  for (const { target, seconds } of steps) {
    const count = Math.round(seconds / dt);
    for (let index = 0; index < count; index += 1) {
      area += (from + ((target - from) * (index + 0.5)) / count) * dt;
      at += dt;
      while (area >= starts.length + 1) starts.push(at * 1000);
    }
    from = target;
  }
  return starts;
}

test('a constant rate starts iteration i at (i + 1) / rate', () => {
  const schedule = { start: 200, steps: [{ target: 200, seconds: 10 }] };
  assert.ok(Math.abs(intendedOffset(schedule, 0) - 5) < 1e-9);
  assert.ok(Math.abs(intendedOffset(schedule, 1999) - 10_000) < 1e-6);
});

test('ramps up, holds and ramps down as the integral of the rate says', () => {
  const schedule = {
    start: 10,
    steps: [
      { target: 100, seconds: 2 },
      { target: 100, seconds: 1 },
      { target: 20, seconds: 2 },
    ],
  };
  const expected = byIntegration(schedule);
  assert.ok(expected.length > 300);
  expected.forEach((at, index) => {
    assert.ok(Math.abs(intendedOffset(schedule, index) - at) < 0.1, `iteration ${index}`);
  });
});
