/** How many jobs run side by side (tests/support/packed.js). */
import assert from 'node:assert/strict';
import { setImmediate as soon } from 'node:timers/promises';
import { test } from 'node:test';
import { packed, watchIdle } from '../support/packed.js';

/** Jobs that a test ends. @param {number} count */
function made(count) {
  /** @type {number[]} */
  const started = [];
  /** @type {(() => void)[]} */
  const end = [];
  const jobs = Array.from({ length: count }, (_, index) => async () => {
    started.push(index);
    await new Promise((resolve) => (end[index] = () => resolve(undefined)));
  });
  return { jobs, started, end };
}

/** Waits until all has happened that can happen. */
const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) await soon();
};

test('without idle CPUs a job starts when another one ends', async () => {
  const { jobs, started, end } = made(4);
  const all = packed(jobs, { least: 2, most: 4, hasRoom: async () => soon(false) });
  await settled();
  assert.deepEqual(started, [0, 1]);
  end[1]();
  await settled();
  assert.deepEqual(started, [0, 1, 2]);
  for (const index of [0, 2]) end[index]();
  await settled();
  end[3]();
  await all;
  assert.deepEqual(started, [0, 1, 2, 3]);
});

test('with idle CPUs more start, up to the most', async () => {
  const { jobs, started, end } = made(5);
  const all = packed(jobs, { least: 2, most: 4, hasRoom: async () => soon(true) });
  await settled();
  assert.deepEqual(started, [0, 1, 2, 3]);
  end[0]();
  await settled();
  assert.deepEqual(started, [0, 1, 2, 3, 4]);
  for (const index of [1, 2, 3, 4]) end[index]();
  await all;
});

test('the idle share is a share', async () => {
  const idle = watchIdle();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(idle() >= 0 && idle() <= 1, String(idle()));
});
