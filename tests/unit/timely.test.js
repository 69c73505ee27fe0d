/** tests/support/timely.js: only times are tried again, and not for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '../support/faulty.js';
import { timely, undisturbed } from '../support/timely.js';

/** @param {(tries: number) => void} body */
async function triesOf(body) {
  let tries = 0;
  const error = await undisturbed(async () => {
    tries += 1;
    body(tries);
  })().catch((/** @type {Error} */ thrown) => thrown);
  return [tries, error instanceof Error ? error.message : null];
}

test('a time that holds once holds', async () => {
  assert.deepEqual(await triesOf((tries) => timely(tries === 3, 'late')), [3, null]);
  assert.deepEqual(await triesOf((tries) => within(tries, 2, 0.1)), [2, null]);
});

test('a time that never holds fails, with what was found', async () => {
  assert.deepEqual(await triesOf(() => within(3, 2, 0.1)), [5, '3 is not within 10 % of 2']);
});

test('what is no time is asked once', async () => {
  assert.deepEqual(await triesOf((tries) => assert.ok(tries > 1, 'counted wrong')), [1, 'counted wrong']);
});
