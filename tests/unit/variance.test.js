import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf, row } from '../../benchmarks/variance/parts.js';

/** Numbers with mean 0 and deviation 1, always the same (Park and Miller; Box and Muller). */
function* noise() {
  let state = 7;
  const next = () => (state = (state * 16807) % 2147483647) / 2147483647;
  for (;;) yield Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
}

/** @param {{ between: number, within: number, drift?: number }} truth */
function simulated({ between, within, drift = 0 }) {
  const random = noise();
  const one = () => /** @type {number} */ (random.next().value);
  return Array.from({ length: 400 }, () => {
    const start = between * one();
    return Array.from({ length: 5 }, (_, run) => 100 * Math.exp(start + within * one() + drift * run));
  });
}

const near = (found, truth) => assert.ok(Math.abs(found - truth) < 0.015, `${found}, not ${truth}`);

test('what starts differ by and what runs differ by are told apart', () => {
  for (const truth of [
    { between: 0.2, within: 0.05 },
    { between: 0.05, within: 0.2 },
    { between: 0, within: 0.1 },
  ]) {
    const found = partsOf(simulated(truth));
    near(found.within, truth.within);
    near(found.successive, truth.within);
    near(found.between ** 2, truth.between ** 2);
  }
});

test('slow drift is in the runs of a start, and hardly in successive ones', () => {
  const found = partsOf(simulated({ between: 0, within: 0.02, drift: 0.1 }));
  // Of 5 steps of 0.1 the deviation is 0.158; successive runs differ by 0.1 in each step, which is 0.07 of one run.
  near(found.within, Math.hypot(0.02, 0.158));
  near(found.successive, Math.hypot(0.02, 0.1 / Math.SQRT2));
});

test('by hand: two starts of two runs', () => {
  const found = partsOf([
    [Math.E, Math.E ** 3],
    [Math.E ** 2, Math.E ** 4],
  ]);
  // Logarithms 1, 3 and 2, 4: variance 2 in each; the means 2 and 3 differ with variance 0.5, less than 2 / 2.
  near(found.within, Math.SQRT2);
  near(found.successive, Math.SQRT2);
  assert.equal(found.between, 0);
  assert.equal(
    row(4, 'rate', { successive: 0.1, within: 0.123, between: 0 }, { measured: 1.5, whole: 2 }),
    '| 4 | rate | 1.50 s | 75.0 % | 10.0 % | 12.3 % | 0.0 % |',
  );
});
