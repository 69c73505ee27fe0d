/** The relay's scenarios. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRelay } from '../../support/relay-smoke.js';
import { assertSecret, smokeRun } from '../../support/smoke-run.js';

test('relay: all scenarios measure, leave no secret behind, and nothing running', async () => {
  const smoke = await smokeRun();
  const names = smoke.scenariosOf('pulsar');
  assert.ok(names.length >= 9, names.join());
  assertRelay(smoke.run, names);
  assertSecret(smoke);
  assert.ok(smoke.shown.includes('pulsar_relay.main:app'), 'the processes were watched');
  assert.deepEqual(smoke.left, [], 'nothing is left running');
});
