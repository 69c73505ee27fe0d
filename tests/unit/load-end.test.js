/** The duration of a load in a run without a sidecar. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadHasEnded, loadSeconds } from '../../lib/load-end.js';

test('a load lasts until teardown(), where there was one', () => {
  const wallOffset = Date.now() - 5_000;
  const begun = { loadFrom: 1_000, wallOffset };
  assert.equal(loadSeconds(begun, 61_000), 60);
  loadHasEnded();
  const seconds = loadSeconds(begun, 61_000);
  assert.ok(seconds >= 4 && seconds < 5, String(seconds));
});
