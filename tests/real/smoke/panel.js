/** The panel's six scenarios, on SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertIntegrity, processesOf, soundResult } from '../../support/panel-result.js';
import { rowsOf, sectionOf } from '../../support/sections.js';
import { assertSecret, smokeRun } from '../../support/smoke-run.js';
import { assertSystemCpu } from '../../support/system-cpu.js';

const NAMES = ['users-create', 'users-disable', 'users-enable', 'users-lifecycle', 'users-list', 'mixed'];

test('panel on SQLite: all six measure, leave no secret behind, and nothing running', async () => {
  const smoke = await smokeRun();
  for (const name of NAMES) {
    const result = soundResult(smoke.run, name);
    assertIntegrity(result);
    assertSystemCpu(result);
    assert.deepEqual(processesOf(result), ['k6', 'panel', 'total', 'xray'], name);
    assert.equal(result.run.parameters.existing, name === 'users-list' ? 2000 : 0);
    for (const row of result.operations) {
      const [own] = rowsOf(sectionOf(result, 'component', row.name));
      assert.deepEqual([own.component, own.calls], ['route', row.success], `${name}/${row.name}`);
    }
    assert.equal(sectionOf(result, 'database'), undefined, 'SQLite keeps no statement digests');
  }
  assertSecret(smoke, /sqlite:\/\/\/\/\S+panel\.sqlite3/);
  assert.ok(smoke.shown.includes('panel.app:create'), 'the processes were watched');
  assert.deepEqual(smoke.left, [], 'nothing is left running');
});
