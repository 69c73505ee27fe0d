/** The panel's eight scenarios, on SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PANEL_SECRET, assertPanel } from '../../support/panel-smoke.js';
import { soundResult } from '../../support/panel-result.js';
import { assertSecret, smokeRun } from '../../support/smoke-run.js';

const NAMES = [
  'users-create',
  'users-disable',
  'users-enable',
  'users-lifecycle',
  'users-list',
  'mixed',
  'subscription',
];

test('panel on SQLite: all eight measure, leave no secret behind, and nothing running', async () => {
  const smoke = await smokeRun();
  assertPanel(smoke.run, NAMES);
  // Its rows are no requests of the panel.
  const { integrity } = soundResult(smoke.run, 'users-accounting');
  assert.ok(
    integrity.every((/** @type {any} */ { ok }) => ok),
    JSON.stringify(integrity),
  );
  assertSecret(smoke, PANEL_SECRET);
  assert.ok(smoke.shown.includes('panel.app:create'), 'the processes were watched');
  assert.deepEqual(smoke.left, [], 'nothing is left running');
});
