/** The panel's scenarios, on SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PANEL_SECRET, assertPanel } from '../../support/panel-smoke.js';
import { soundResult } from '../../support/panel-result.js';
import { assertSecret, smokeRun } from '../../support/smoke-run.js';

/** Rows of these are no requests of the panel. tests/real/panel-data-plane.test.js has the first. */
const OF_TRAFFIC = ['users-live', 'users-accounting'];

test('panel on SQLite: all measure, leave no secret behind, and nothing running', async () => {
  const smoke = await smokeRun();
  const names = smoke.scenariosOf('panel').filter((name) => !OF_TRAFFIC.includes(name));
  assert.ok(names.length >= 7, names.join());
  assertPanel(smoke.run, names);
  const { integrity } = soundResult(smoke.run, 'users-accounting');
  assert.ok(
    integrity.every((/** @type {any} */ { ok }) => ok),
    JSON.stringify(integrity),
  );
  assertSecret(smoke, PANEL_SECRET);
  assert.ok(smoke.shown.includes('panel.app:create'), 'the processes were watched');
  assert.deepEqual(smoke.left, [], 'nothing is left running');
});
