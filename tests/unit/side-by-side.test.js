/** One turn of both sides of a row, side by side. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SideBySide } from '../../lib/protocols/side-by-side.js';

/** @param {string} name @param {number} ms of a round trip @param {number} rate bytes a second */
const begun = (name, ms, rate) =>
  /** @type {any} */ ({
    side: { name },
    own: { outcomes: [], turns: [] },
    turn: {
      name,
      figures: { handshake_ms: 1, rtt_ms: ms },
      limits: [],
      rate: () => rate,
      end: () => ({ outcome: 'measured', detail: null }),
    },
  });

/** @param {any[]} sides @param {number} number */
const beside = (sides, number) =>
  new SideBySide(sides, { row: /** @type {any} */ ({}), number, lot: 'a lot', bytes: null });

/** @param {SideBySide} both @param {{ backwards: boolean }} [how] */
function names(both, how) {
  /** @type {string[]} */
  const all = [];
  both.each((turn) => all.push(/** @type {any} */ (turn).name), how);
  return all;
}

test('a step is of one side, then of the other, and of none that carries nothing', () => {
  const both = beside([begun('baseline', 1, 1e9), begun('candidate', 1, 1e9)], 1);
  assert.deepEqual(names(both), ['baseline', 'candidate']);
  assert.deepEqual(names(both, { backwards: true }), ['candidate', 'baseline']);
  both.takeTurns();
  assert.deepEqual(names(both), ['candidate', 'baseline']);
  both.drawLots();
  assert.deepEqual(names(both).toSorted(), ['baseline', 'candidate']);
  both.keep((turn) => /** @type {any} */ (turn).name === 'candidate');
  assert.deepEqual(names(both), ['candidate']);
  both.takeTurns();
  assert.deepEqual(names(both), ['candidate']);
});

test('a transfer is as long for both, and found out once', () => {
  const sides = [begun('baseline', 1, 100 * 1024 * 1024), begun('candidate', 1, 50 * 1024 * 1024)];
  const both = beside(sides, 0);
  assert.equal(both.transferBytes(0.1), 10 * 1024 * 1024);
  for (const { turn } of sides) turn.rate = () => assert.fail('asked again');
  assert.equal(both.transferBytes(0.1), 10 * 1024 * 1024);
  both.end();
  assert.deepEqual(
    sides.map(({ own }) => own.outcomes.map((/** @type {any} */ { outcome }) => outcome)),
    [['measured'], ['measured']],
  );
});

test('a candidate that is far too slow is measured no further, and told', () => {
  const sides = [begun('baseline', 1, 1e9), begun('candidate', 100, 1e9)];
  const both = beside(sides, 0);
  both.transferBytes(0.1);
  assert.deepEqual(names(both), []);
  both.end();
  const [, told] = sides[1].own.outcomes;
  assert.equal(told.outcome, 'too slow');
  assert.match(told.detail, /100 times slower; cut short/);
  assert.equal(sides[0].own.outcomes.length, 1);
});
