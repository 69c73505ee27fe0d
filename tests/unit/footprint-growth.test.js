/** The decision of footprint/leak by simulation: shapes that are no leak, and leaks of once and twice the bound. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BLOCKS_LEAST, falls, growthOf, within } from '../../lib/footprint/growth.js';
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

/** Bytes or a count after each cycle, above a floor and a leak. @typedef {(cycles: number, next: () => number) => number[]} Shape */

/** @param {(cycle: number, next: () => number, cycles: number) => number} of @returns {Shape} */
const ofEach = (of) => (cycles, next) =>
  Array.from({ length: cycles }, (_, cycle) => of(cycle, next, cycles));

/** Noise of allocators: up to 256 KiB above the floor. @param {number} _cycle @param {() => number} next */
const little = (_cycle, next) => next() ** 2 * MIB * 0.25;
const noise = ofEach(little);

/** @param {number[]} at shares of all cycles */
const steps = (at) =>
  ofEach(
    (cycle, next, cycles) =>
      little(cycle, next) + at.filter((one) => cycle >= one * cycles).length * 50 * MIB,
  );

/** @param {number} period cycles */
const saw = (period) => ofEach((cycle, next) => little(cycle, next) + (cycle % period) * MIB);

/** Noise of tests/support/leaky-proxy, as measured. */
const leaky = ofEach((_cycle, next) => next() ** 2 * MIB * 0.5);

/** A number of the normal distribution. @param {() => number} next */
const normal = (next) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

/** A heap whose readings are alike: each keeps a part of the last one's distance. @param {number} mib standard deviation @param {number} part @returns {Shape} */
const wanders = (mib, part) => (cycles, next) => {
  let at = normal(next) * mib;
  const own = mib * Math.sqrt(1 - part ** 2);
  return Array.from({ length: cycles }, () => (at = part * at + own * normal(next)) * MIB);
};

/** A level that drifts by chance. @param {number} mib of a cycle @returns {Shape} */
const drifts = (mib) => (cycles, next) => {
  let at = 0;
  return Array.from({ length: cycles }, () => (at += mib * normal(next)) * MIB);
};

/** A level that approaches its plateau, from above or below. @param {number} mib above it at the start @param {number} share of the run, in which a third is left */
const approaches = (mib, share) =>
  ofEach((cycle, next, cycles) => little(cycle, next) + mib * MIB * Math.exp(-cycle / (share * cycles)));

/** Sockets and threads: whole numbers. Some close late, and some that are kept close together. */
const whole = ofEach((cycle, next) => Math.floor(next() ** 2 * 4) + (cycle % 3));

/**
 * @typedef {object} Sizes
 * @property {number} cycles
 * @property {number} each work of a cycle
 * @property {number} block
 * @property {number} bound of each unit of work
 * @property {number} slack
 */

/** @param {keyof typeof LEAK_PROFILES} profile @returns {Sizes} */
const connections = (profile) => ({
  ...LEAK_PROFILES[profile],
  each: LEAK_PROFILES[profile].connections,
  bound: BOUND,
  slack: MEMORY_SLACK,
});

/** @param {keyof typeof LEAK_PROFILES} profile @returns {Sizes} */
const associations = (profile) => ({
  ...LEAK_PROFILES[profile],
  each: LEAK_PROFILES[profile].associations,
  bound: 16 * BOUND,
  slack: MEMORY_SLACK,
});

/** @param {Sizes} sizes @returns {Sizes} */
const counted = (sizes) => ({ ...sizes, bound: 0.001, slack: 10 });

/** The smallest leak that a run shows, for each unit of work. @param {Sizes} sizes */
const least = ({ cycles, each, bound, slack }) => Math.max(bound, slack / (cycles * each));

/**
 * Shares of runs that are within the bound, beyond it, and unclear, and of runs whose slope is within 5 % of the leak.
 * @param {Sizes} sizes @param {Shape} shape @param {number} leak of each unit of work
 */
function shares({ cycles, each, block, bound, slack }, shape, leak) {
  const counts = { within: 0, beyond: 0, unclear: 0, near: 0 };
  for (let seed = 1; seed <= RUNS; seed++) {
    const points = shape(cycles, random(seed * 7919)).map((above, cycle) => {
      const x = (cycle + 1) * each;
      const left = leak * x;
      return { x, y: above + (bound < 1 ? Math.floor(left) : left) };
    });
    const growth = growthOf(points, block);
    const found = within(growth, { bound, slack, work: cycles * each });
    if (growth && Math.abs(growth.slope - leak) <= leak * 0.05) counts.near += 1 / RUNS;
    counts[found === null ? 'unclear' : found ? 'within' : 'beyond'] += 1 / RUNS;
  }
  return counts;
}

/** Asserts that no decision is wrong, without a leak and with twice the bound. @param {Sizes} sizes @param {Shape} shape */
function errs(sizes, shape) {
  const none = shares(sizes, shape, 0);
  assert.ok(none.beyond <= 0.005, JSON.stringify(none));
  const twice = shares(sizes, shape, 2 * sizes.bound);
  assert.ok(twice.within <= 0.005, JSON.stringify(twice));
}

const [smoke, quick, full] = [connections('smoke'), connections('quick'), connections('full')];
/** A leak that quick shows: twice the bound is below the slack there. */
const visible = 2 * least(quick);

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
    ['a heap that wanders by 1 MiB, alike by half', wanders(1, 0.5)],
    ['a heap that wanders by 0.25 MiB, alike by 90 %', wanders(0.25, 0.9)],
    ['a heap that wanders by 1 MiB, alike by 90 %', wanders(1, 0.9)],
    ['a heap that wanders by 1 MiB, alike by 97 %', wanders(1, 0.97)],
    ['a heap that wanders by 4 MiB, alike by 90 %', wanders(4, 0.9)],
    ['a drift of 0.1 MiB', drifts(0.1)],
    ['a drift of 0.5 MiB', drifts(0.5)],
    ['a short fall of 3 MiB', approaches(3, 0.1)],
    ['a fall of 10 MiB', approaches(10, 0.5)],
    ['a fall of 40 MiB', approaches(40, 0.3)],
    ['a fall that outlives the run', approaches(40, 1)],
    ['a start-up of 6 MiB', approaches(-6, 0.3)],
  ])) {
    test(`${name}: unclear at worst, and no wrong decision`, () => {
      for (const sizes of [smoke, quick, full]) errs(sizes, shape);
    });
  }

  test('a saw-tooth of eleven cycles: no wrong decision in runs of more than two teeth', () => {
    for (const sizes of [quick, full]) errs(sizes, saw(11));
  });
});

describe('growth of other kinds', () => {
  test('a wandering heap is clear in full: the interval grows by what neighbours share, and no more', () => {
    const [none, twice] = [0, 2 * BOUND].map((leak) => shares(full, wanders(1, 0.5), leak));
    assert.ok(none.within > 0.9 && twice.beyond > 0.9, JSON.stringify([none, twice]));
  });

  const ofAssociations = { quick: associations('quick'), full: associations('full') };
  for (const [profile, sizes] of Object.entries(ofAssociations)) {
    test(`associations in ${profile}: no wrong decision, and a leak is found`, () => {
      for (const shape of [
        noise,
        steps([1 / 2]),
        saw(2),
        saw(3),
        wanders(1, 0.5),
        wanders(1, 0.9),
        approaches(10, 0.5),
      ])
        errs(sizes, shape);
      const found = shares(sizes, noise, 2 * least(sizes));
      assert.ok(found.beyond > 0.9 && found.within === 0, JSON.stringify(found));
      const none = shares(sizes, noise, 0);
      assert.ok(none.within > 0.9, JSON.stringify(none));
    });
  }

  test('descriptors and threads are whole numbers: no wrong decision, and a clear one in most runs', () => {
    for (const sizes of [quick, full, ...Object.values(ofAssociations)].map(counted)) {
      errs(sizes, whole);
      const found = shares(sizes, whole, 3 * least(sizes));
      assert.ok(found.beyond > 0.9, JSON.stringify(found));
    }
    const [none, still] = [whole, ofEach(() => 15)].map((shape) => shares(counted(full), shape, 0));
    assert.ok(none.within > 0.9 && still.within > 0.99, JSON.stringify([none, still]));
  });
});

describe('an interval', () => {
  test('the widest interval of the fewest blocks covers 99 %, and fewer blocks tell nothing', () => {
    const blocks = Array.from({ length: BLOCKS_LEAST }, (_, x) => x);
    let missed = 0;
    for (let seed = 1; seed <= 10 * RUNS; seed++) {
      const next = random(seed * 7919);
      const growth = growthOf(
        blocks.map((x) => ({ x, y: normal(next) })),
        1,
      );
      if (!growth || growth.low > 0 || growth.high < 0) missed += 1;
    }
    assert.ok(missed <= 0.01 * 10 * RUNS, String(missed));
    assert.equal(
      growthOf(
        blocks.slice(1).map((x) => ({ x, y: x })),
        1,
      ),
      null,
    );
  });

  test('what falls by more than the bound is at no plateau: neither a leak nor none', () => {
    const of = (/** @type {number} */ low) =>
      within({ slope: 0, low, high: 1, step: 0 }, { bound: 5, slack: 0, work: 24 });
    assert.deepEqual([of(-5), of(-5.1)], [true, null]);
  });

  test('the warm-up goes on while the lowest of a block is lower than all before', () => {
    assert.equal(falls([9, 8, 7, 6], 2), true);
    assert.equal(falls([9, 8, 7, 8], 2), true);
    assert.equal(falls([9, 7, 7, 8], 2), false);
    assert.equal(falls([9, 8], 2), false, 'nothing to compare with');
  });

  // `make benchmark-leak` is the real run.
  test('a leak of 100 bytes is told from 64 by 120,000 connections, and not by the 24,000 of quick', () => {
    const many = { ...quick, cycles: 96, each: 1250 };
    const [few, found] = [quick, many].map((sizes) => shares(sizes, leaky, 100));
    assert.ok(few.beyond === 0 && few.unclear > 0.9, JSON.stringify(few));
    assert.ok(found.beyond > 0.95 && found.near > 0.95, JSON.stringify(found));
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
