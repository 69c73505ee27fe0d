/** The decision of footprint/small: which levels carry the load, and which is the smallest. */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { carries, levelAt, limitsAt, smallestOf } from '../../lib/footprint/small.js';
import { smallFacts } from '../../lib/footprint/small-shown.js';

const planned = { turns: 2, load: { tunnels: 8, mib: 1, mbitPerS: 20 } };
const fits = { tunnels: 8, mbit_per_s: 30, killed: 0, throttled: null, peak_mib: 20 };

/** @param {number} mib @param {object[]} changes of each turn */
const level = (mib, ...changes) => ({
  mib,
  turns: changes.map((change, turn) => ({ turn, ...fits, ...change })),
});

const killed = { killed: 1, tunnels: 0, mbit_per_s: null };

describe('footprint/small', () => {
  test('a level carries the load if each of its turns does', () => {
    for (const [changes, expected] of /** @type {[object[], boolean | null][]} */ ([
      [[{}, {}], true],
      [[{ tunnels: 7 }, { tunnels: 7 }], false],
      [[{ mbit_per_s: 19.9 }, { mbit_per_s: 0.1 }], false],
      [[{ mbit_per_s: null }, { mbit_per_s: null }], false],
      [[killed, killed], false],
      // All bytes came, but a worker was killed and replaced.
      [[{ killed: 1 }, { killed: 1 }], false],
      [[{ killed: null }, { killed: null }], null],
      [[{}, killed], null],
      [[{}], null],
      [[], null],
    ]))
      assert.equal(carries(level(64, ...changes), planned), expected, JSON.stringify(changes));
  });

  test('the smallest level is one above which each level carries the load', () => {
    const [yes, no, unclear] = [
      [{}, {}],
      [killed, killed],
      [{}, killed],
    ];
    for (const [levels, expected] of /** @type {[object[][], number | false | null][]} */ ([
      [[no, yes, yes], 32],
      [[yes, yes, yes], 16],
      [[no, no, no], false],
      [[yes, no, yes], 64],
      [[no, unclear, yes], 64],
      [[no, yes, unclear], null],
      [[yes, yes, no], false],
    ])) {
      const all = levels.map((changes, index) => level(16 * 2 ** index, ...changes));
      assert.equal(smallestOf(all, planned), expected, JSON.stringify(all));
    }
  });

  test('a bound that no level decides neither passes nor fails', () => {
    for (const [most, all, expected] of /** @type {[number, object[], number | null][]} */ ([
      [64, [killed], null],
      [16, [killed], 17],
      [15, [killed], 17],
      [17, [killed], null],
      [64, [{}], 16],
      [16, [{}], 16],
      [15, [{}], null],
      [32, [killed, {}], 32],
      [31, [killed, {}], null],
      [16, [killed, {}], 32],
      [64, [{}, killed, {}], 64],
      [32, [{}, killed, {}], 64],
    ])) {
      const levels = all.map((of, index) => level(16 * 2 ** index, of, of));
      const [{ found }] = smallFacts(levels, { ...planned, most });
      assert.equal(found.said, expected, `${most} MiB of ${JSON.stringify(levels)}`);
    }
  });

  test('each turn has each level once', () => {
    const levels = [16, 32, 64];
    for (const turn of [0, 1]) {
      const each = [0, 1, 2].map((index) => levelAt(levels, 3 * turn + index, 'run'));
      assert.deepEqual(
        each.map(({ mib }) => mib).sort((a, b) => a - b),
        levels,
      );
      assert.ok(each.every((one) => one.turn === turn));
    }
  });

  describe('LIMITS', () => {
    const env = /** @type {any} */ (globalThis).__ENV;
    afterEach(() => {
      delete env.LIMITS;
    });

    test('gives the CPU, and no memory', () => {
      assert.equal(limitsAt(64), 'memory:64mib');
      env.LIMITS = 'cpu:50%';
      assert.equal(limitsAt(64), 'cpu:50%,memory:64mib');
      env.LIMITS = 'cpu:50%,memory:64mib';
      assert.throws(() => limitsAt(64), /sets the memory itself: give LEVELS_MIB/);
    });
  });
});
