/** The relay's seven scenarios. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSecret, smokeRun } from '../../support/smoke-run.js';
import { assertSystemCpu } from '../../support/system-cpu.js';
import { assertVerdict } from '../../support/verdict.js';

const NAMES = ['ingest', 'bulk', 'concurrent', 'subscribe', 'delivery', 'broadcast', 'poll'];

test('relay: all seven scenarios measure, leave no secret behind, and nothing running', async () => {
  const smoke = await smokeRun();
  for (const name of NAMES) {
    const result = smoke.run.result(`pulsar-${name}`);
    for (const row of result.operations) {
      assert.deepEqual([row.success, row.errors], [row.requests, {}], `${name}/${row.name}`);
      assert.ok(row.requests > 0 && row.rate_per_s > 0, `${name}/${row.name}`);
    }
    const roles = result.processes.map((/** @type {any} */ process) => process.role);
    assert.deepEqual(roles.toSorted(), ['generator', 'system', 'total'], name);
    assert.equal(result.run.versions['pulsar-relay'], '0.2.1');
    assertSystemCpu(result);
    assertVerdict(result, 'pass');
  }
  assertSecret(smoke);
  assert.ok(smoke.shown.includes('pulsar_relay.main:app'), 'the processes were watched');
  assert.deepEqual(smoke.left, [], 'nothing is left running');
});
