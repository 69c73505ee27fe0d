/** The decision of footprint/leak by simulation: shapes that are no leak, and leaks of once and twice the bound. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { growthOf, within } from '../../lib/footprint/growth.js';

const MIB = 2 ** 20;
const BOUND = 64;
const CYCLES = 48;
const EACH = 1000;
const BLOCK = 3;
const RUNS = 400;
const SLACK = 2 * MIB;

/** A generator of equal numbers in [0, 1) for equal seeds (mulberry32). @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @typedef {(cycle: number, next: () => number) => number} Shape bytes above the leak */

/** Noise of allocators: up to 256 KiB above the floor. @type {Shape} */
const noise = (_cycle, next) => next() ** 2 * MIB * 0.25;

/** @param {number[]} at cycles @returns {Shape} */
const steps = (at) => (cycle, next) =>
  noise(cycle, next) + at.filter((one) => cycle >= one).length * 50 * MIB;

/** @param {number} period cycles @returns {Shape} */
const saw = (period) => (cycle, next) =>
  noise(cycle, next) + (((cycle * EACH) % (period * EACH)) / EACH) * MIB;

/** Shares of runs that are within the bound, beyond it, and unclear. @param {Shape} shape @param {number} leak bytes of a connection */
function shares(shape, leak) {
  const counts = { within: 0, beyond: 0, unclear: 0 };
  for (let seed = 1; seed <= RUNS; seed++) {
    const next = random(seed * 7919);
    const points = Array.from({ length: CYCLES }, (_, cycle) => ({
      x: (cycle + 1) * EACH,
      y: 30 * MIB + leak * (cycle + 1) * EACH + shape(cycle, next),
    }));
    const found = within(growthOf(points, BLOCK), { bound: BOUND, slack: SLACK, work: CYCLES * EACH });
    counts[found === null ? 'unclear' : found ? 'within' : 'beyond'] += 1 / RUNS;
  }
  return counts;
}

describe('growth', () => {
  for (const [name, shape] of /** @type {[string, Shape][]} */ ([
    ['flat', noise],
    ['a step of 50 MiB in the middle', steps([24])],
    ['a step at the start', steps([2])],
    ['a step at the end', steps([45])],
    ['a saw-tooth of three cycles', saw(3)],
    ['a saw-tooth of two cycles', saw(2)],
  ])) {
    test(`${name} is no leak`, () => {
      const found = shares(shape, 0);
      assert.ok(found.beyond <= 0.005 && found.within > 0.9, JSON.stringify(found));
    });
    test(`${name} with a leak of twice the bound does not pass`, () => {
      const found = shares(shape, 2 * BOUND);
      assert.ok(found.within <= 0.005 && found.beyond > 0.9, JSON.stringify(found));
    });
    test(`${name} with a leak at the bound is mostly unclear`, () => {
      const found = shares(shape, BOUND);
      assert.ok(found.within <= 0.03 && found.beyond <= 0.03, JSON.stringify(found));
    });
  }

  for (const [name, shape] of /** @type {[string, Shape][]} */ ([
    ['two steps', steps([10, 30])],
    ['a saw-tooth of five cycles', saw(5)],
    ['a saw-tooth of eleven cycles', saw(11)],
  ])) {
    test(`${name}: unclear at worst, and no wrong decision`, () => {
      const [none, twice] = [shares(shape, 0), shares(shape, 2 * BOUND)];
      assert.ok(none.beyond <= 0.005, JSON.stringify(none));
      assert.ok(twice.within <= 0.005, JSON.stringify(twice));
    });
  }

  test('a slope, a step and an interval have their known values', () => {
    const points = Array.from({ length: 24 }, (_, cycle) => ({
      x: cycle,
      y: 5 * cycle + (cycle >= 12 ? 100 : 0),
    }));
    const growth = growthOf(points, 1);
    assert.deepEqual(growth, { slope: 5, low: 5, high: 5, step: 100 });
    assert.equal(within(growth, { bound: 5, slack: 0, work: 24 }), true);
    assert.equal(within(growth, { bound: 4.9, slack: 100, work: 24 }), false);
    assert.equal(within(growth, { bound: 4.9, slack: 200, work: 24 }), null);
  });

  test('too few cycles tell nothing', () => {
    assert.equal(within(growthOf([{ x: 1, y: 1 }], 1), { bound: 1, slack: 0, work: 1 }), null);
  });
});
