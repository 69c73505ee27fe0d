/** Checks of a smoke run's scenarios of the panel, on SQLite. */
import assert from 'node:assert/strict';
import { assertIntegrity, processesOf, soundResult } from './panel-result.js';
import { rowsOf, sectionOf } from './sections.js';
import { assertSystemCpu } from './system-cpu.js';

/** A secret that only the panel may show. */
export const PANEL_SECRET = /sqlite:\/\/\/\/\S+panel\.sqlite3/;

/** @param {ReturnType<typeof import('./bench.js').startBench>} bench that has ended @param {string[]} names of scenarios */
export function assertPanel(bench, names) {
  for (const name of names) {
    const result = soundResult(bench, name);
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
}
