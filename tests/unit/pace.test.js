import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intendedOffset, paceOf } from '../../lib/pace.js';
import execution from '../fakes/k6-execution.js';

/** Starts of all iterations by brute force: integrates the rate in steps of 10 µs. */
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

test('a ramp that holds a rate starts iteration i at (i + 1) / rate', () => {
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

/** @param {number} elapsedMs since the executor's start @param {number} lengthMs @param {number} iteration */
function setProgress(elapsedMs, lengthMs, iteration) {
  Object.assign(execution.scenario, { progress: elapsedMs / lengthMs, iterationInTest: iteration });
}

test('at a constant rate the executor’s own progress gives the origin', () => {
  const pace = paceOf({ start: 100, steps: [{ target: 100, seconds: 10 }] });
  setProgress(507, 10_000, 50);
  const before = performance.now();
  const { at: intended, offset } = pace();
  const after = performance.now();
  assert.equal(offset, 500);
  // Iteration 50 was intended for 500 ms and runs at 507 ms: it is 7 ms late.
  assert.ok(intended >= before - 7 && intended <= after - 7, `${intended} of ${before} to ${after}`);
});

test('in a ramp the least late iteration so far is the one on time', () => {
  const pace = paceOf({ start: 100, steps: [{ target: 200, seconds: 10 }] });
  setProgress(0, 10_000, 0);
  const before = performance.now();
  const first = pace();
  assert.ok(first.at >= before && first.at <= performance.now());
  setProgress(0, 10_000, 1);
  const second = pace();
  assert.ok(second.at <= performance.now(), 'the second came sooner after the first than was meant');
});
