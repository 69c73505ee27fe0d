import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromWall, measureOffset, now, useOffset } from '../../lib/clock.js';

test('wall-clock times come out on the clock of the test, to well below a millisecond', () => {
  useOffset(measureOffset());
  // performance.timeOrigin ties Node's two clocks together: a known answer.
  const wall = performance.timeOrigin + performance.now();
  const error = fromWall(wall) - now();
  assert.ok(Math.abs(error) < 0.5, `off by ${error} ms`);
});
