/** The relay's nine scenarios. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRelay } from '../../support/relay-smoke.js';
import { assertSecret, smokeRun } from '../../support/smoke-run.js';

const NAMES = [
  'ingest',
  'bulk',
  'concurrent',
  'subscribe',
  'delivery',
  'broadcast',
  'poll',
  'slow',
  'restart',
];

test('relay: all nine scenarios measure, leave no secret behind, and nothing running', async () => {
  const smoke = await smokeRun();
  assertRelay(smoke.run, NAMES);
  assertSecret(smoke);
  assert.ok(smoke.shown.includes('pulsar_relay.main:app'), 'the processes were watched');
  assert.deepEqual(smoke.left, [], 'nothing is left running');
});
