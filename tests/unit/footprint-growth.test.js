/** The decision of footprint/leak by simulation: shapes that are no leak, and leaks of once and twice the bound. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { growthOf, within } from '../../lib/footprint/growth.js';
import { udpTimeoutOf } from '../../lib/footprint/leak.js';
import { LEAK_PROFILES, MEMORY_SLACK } from '../../lib/footprint/leak-sizes.js';

const MIB = 2 ** 20;
const BOUND = 64;
const RUNS = 400;

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

/** @typedef {(cycle: number, next: () => number, cycles: number) => number} Shape bytes above the leak */

/** Noise of allocators: up to 256 KiB above the floor. @type {Shape} */
const noise = (_cycle, next) => next() ** 2 * MIB * 0.25;

/** @param {number[]} at shares of all cycles @returns {Shape} */
const steps = (at) => (cycle, next, cycles) =>
  noise(cycle, next, cycles) + at.filter((one) => cycle >= one * cycles).length * 50 * MIB;

/** @param {number} period cycles @returns {Shape} */
const saw = (period) => (cycle, next, cycles) => noise(cycle, next, cycles) + (cycle % period) * MIB;

/** Noise of tests/support/leaky-proxy, as measured. @type {Shape} */
const leaky = (_cycle, next) => next() ** 2 * MIB * 0.5;

/** @typedef {typeof LEAK_PROFILES.full} Sizes */

/**
 * Shares of runs that are within the bound, beyond it, and unclear, and of runs whose slope is within 5 % of the leak.
 * @param {Sizes} sizes @param {Shape} shape @param {number} leak bytes of a connection
 */
function shares({ cycles, connections, block }, shape, leak) {
  const counts = { within: 0, beyond: 0, unclear: 0, near: 0 };
  for (let seed = 1; seed <= RUNS; seed++) {
    const next = random(seed * 7919);
    const points = Array.from({ length: cycles }, (_, cycle) => ({
      x: (cycle + 1) * connections,
      y: 30 * MIB + leak * (cycle + 1) * connections + shape(cycle, next, cycles),
    }));
    const growth = growthOf(points, block);
    const found = within(growth, { bound: BOUND, slack: MEMORY_SLACK, work: cycles * connections });
    if (growth && Math.abs(growth.slope - leak) <= leak * 0.05) counts.near += 1 / RUNS;
    counts[found === null ? 'unclear' : found ? 'within' : 'beyond'] += 1 / RUNS;
  }
  return counts;
}

const { full, quick } = LEAK_PROFILES;
/** A leak that quick shows: twice the bound is below the slack there. */
const visible = (2 * MEMORY_SLACK) / (quick.cycles * quick.connections);

describe('growth', () => {
  for (const [name, shape] of /** @type {[string, Shape][]} */ ([
    ['flat', noise],
    ['a step of 50 MiB in the middle', steps([1 / 2])],
    ['a step at the start', steps([1 / 24])],
    ['a step at the end', steps([15 / 16])],
    ['a saw-tooth of three cycles', saw(3)],
    ['a saw-tooth of two cycles', saw(2)],
  ])) {
    test(`${name} is no leak`, () => {
      const found = shares(full, shape, 0);
      assert.ok(found.beyond <= 0.005 && found.within > 0.9, JSON.stringify(found));
      assert.ok(shares(quick, shape, 0).beyond <= 0.005);
    });
    test(`${name} with a leak of twice the bound does not pass`, () => {
      const found = shares(full, shape, 2 * BOUND);
      assert.ok(found.within <= 0.005 && found.beyond > 0.9, JSON.stringify(found));
      assert.ok(shares(quick, shape, 2 * BOUND).within <= 0.005);
      const more = shares(quick, shape, visible);
      assert.ok(more.within === 0 && more.beyond > 0.9, JSON.stringify(more));
    });
    test(`${name} with a leak at the bound is unclear: the interval has the true slope`, () => {
      for (const sizes of [quick, full]) {
        const found = shares(sizes, shape, BOUND);
        assert.ok(found.within <= 0.005 && found.beyond <= 0.005, JSON.stringify(found));
      }
    });
  }

  for (const [name, shape] of /** @type {[string, Shape][]} */ ([
    ['two steps', steps([1 / 5, 5 / 8])],
    ['a saw-tooth of five cycles', saw(5)],
    ['a saw-tooth of eleven cycles', saw(11)],
  ])) {
    test(`${name}: unclear at worst, and no wrong decision`, () => {
      for (const sizes of [quick, full]) {
        const [none, twice] = [shares(sizes, shape, 0), shares(sizes, shape, 2 * BOUND)];
        assert.ok(none.beyond <= 0.005, JSON.stringify(none));
        assert.ok(twice.within <= 0.005, JSON.stringify(twice));
      }
    });
  }

  // `make benchmark-leak` is the real run.
  test('a leak of 100 bytes is told from 64 by 120,000 connections, and not by the 24,000 of quick', () => {
    const many = { ...quick, connections: 2500 };
    const [few, found] = [quick, many].map((sizes) => shares(sizes, leaky, 100));
    assert.ok(few.beyond === 0 && few.unclear > 0.9, JSON.stringify(few));
    assert.ok(found.beyond > 0.99 && found.near > 0.95, JSON.stringify(found));
    const none = shares(many, leaky, 0);
    assert.ok(none.within > 0.99, JSON.stringify(none));
  });

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

  test('a testbed has the idle time of UDP associations that it was given, or the short one of the profile', () => {
    const of = (/** @type {Record<string, number>} */ variables, link = '') =>
      udpTimeoutOf({ testbed: 't', variables, types: {}, instances: [], link }, 500);
    assert.equal(of({ udp_timeout_ms: 200 }), 200);
    assert.equal(of({ udp_timeout_ms: 0 }), 500);
    assert.equal(of({ udp_timeout_ms: 60_000 }), 0);
    assert.equal(of({}), 0);
    assert.equal(of({ udp_timeout_ms: 200 }, 'far'), 0);
  });

  test('too few cycles tell nothing', () => {
    assert.equal(within(growthOf([{ x: 1, y: 1 }], 1), { bound: 1, slack: 0, work: 1 }), null);
  });
});
