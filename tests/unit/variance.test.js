import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf, row } from '../../benchmarks/variance/parts.js';

/** Reproducible numbers with mean 0 and deviation 1 (Park and Miller; Box and Muller). */
function* noise() {
  let state = 7;
  const next = () => (state = (state * 16807) % 2147483647) / 2147483647;
  for (;;) yield Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
}

/** @param {{ start: number, run: number, drift?: number }} truth */
function simulated({ start, run, drift = 0 }) {
  const random = noise();
  const one = () => /** @type {number} */ (random.next().value);
  return Array.from({ length: 400 }, (_, pair) => {
    const own = () => {
      const level = start * one();
      return Array.from(
        { length: 5 },
        (__, turn) => 100 * Math.exp(level + run * one() + drift * (pair + turn)),
      );
    };
    return { a: own(), b: own() };
  });
}

const near = (found, truth) => assert.ok(Math.abs(found - truth) < 0.015, `${found}, not ${truth}`);

for (const truth of [
  { start: 0.2, run: 0.05 },
  { start: 0.05, run: 0.2 },
  { start: 0, run: 0.1 },
]) {
  test(`a start that has ${truth.start} and a run that has ${truth.run} are told apart`, () => {
    const found = partsOf(simulated(truth));
    near(found.run, truth.run);
    near(found.start ** 2, truth.start ** 2);
    near(found.all, Math.hypot(truth.start, truth.run));
  });
}

test('drift is in all runs together, and in neither part', () => {
  const found = partsOf(simulated({ start: 0, run: 0.02, drift: 0.01 }));
  near(found.run, 0.02);
  near(found.start, 0);
  // A drift of 400 steps of 0.01.
  assert.ok(found.all > 1.1, String(found.all));
});

test('by hand: two pairs of starts, two runs on each', () => {
  const found = partsOf([
    { a: [Math.E ** 3, Math.E ** 4], b: [1, Math.E] },
    { a: [1, Math.E], b: [Math.E, 1] },
  ]);
  // Differences 3, 3 and -1, 1: variances 0 and 2, so a run has (1) / 2; means 3 and 0, so a start has 4.5 / 2 - 0.5 / 2.
  near(found.run ** 2, 0.5);
  near(found.start ** 2, 2);
  assert.equal(
    row(4, 'rate', { run: 0.1, start: 0, all: 0.123 }, { measured: 1.5, whole: 2 }),
    '| 4 | rate | 2.00 s | 75.0 % | 10.0 % | 0.0 % | 12.3 % |',
  );
});
