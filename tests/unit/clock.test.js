import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromWall, measureOffset, now, useOffset } from '../../lib/clock.js';

test('wall-clock times come out on the clock of the test, to well below a millisecond', () => {
  // A busy machine may distort some of the readings, but not all ten.
  const errors = Array.from({ length: 10 }, () => {
    useOffset(measureOffset());
    // performance.timeOrigin connects Node's two clocks, so the answer is known.
    const wall = performance.timeOrigin + performance.now();
    return Math.abs(fromWall(wall) - now());
  });
  assert.ok(Math.min(...errors) < 0.5, `off by ${errors} ms`);
});
