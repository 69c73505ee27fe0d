import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromWall, measureOffset, now, useOffset } from '../../lib/clock.js';

test('wall-clock times come out on the clock of the test, to well below a millisecond', () => {
  // A machine that does something else between two readings spoils those, but not ten times.
  const errors = Array.from({ length: 10 }, () => {
    useOffset(measureOffset());
    // performance.timeOrigin ties Node's two clocks together: a known answer.
    const wall = performance.timeOrigin + performance.now();
    return Math.abs(fromWall(wall) - now());
  });
  assert.ok(Math.min(...errors) < 0.5, `off by ${errors} ms`);
});
