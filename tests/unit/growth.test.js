/** Growth in words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf } from '../../lib/users/growth.js';

/** @param {(users: number, turn: number) => number | null} of @param {number} turns */
const turnsOf = (of, turns = 6) =>
  Array.from({ length: turns }, (_, turn) =>
    [1, 100, 1000, 10_000].map((users) => ({ users, value: of(users, turn) })),
  );

test('a line, a bend, a constant and noise have their words', () => {
  const line = growthOf(turnsOf((users, turn) => 5 + users * (0.01 + turn / 1e4)));
  assert.deepEqual([line.word, line.shape], ['grows', 'linear']);
  assert.ok(Number(line.low) <= 0.01001 && Number(line.high) >= 0.01049, JSON.stringify(line));
  assert.equal(growthOf(turnsOf((users) => Math.sqrt(users))).shape, 'not linear');
  assert.equal(growthOf(turnsOf((users, turn) => 5 + (turn % 2) / 100)).word, 'does not grow');
  const noise = growthOf(turnsOf((users, turn) => 5 + ((turn % 2) * 4 - 2) * (users > 1 ? 1 : 0)));
  assert.equal(noise.word, 'cannot tell');
});

test('few turns, and a turn without a figure, cannot tell', () => {
  assert.equal(growthOf(turnsOf((users) => users, 5)).word, 'cannot tell');
  assert.equal(growthOf(turnsOf((users, turn) => (turn === 0 ? null : users))).word, 'cannot tell');
  assert.equal(growthOf([]).word, 'cannot tell');
});
