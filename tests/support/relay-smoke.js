/** Checks of a smoke run's scenarios of the relay. */
import assert from 'node:assert/strict';
import { assertSystemCpu } from './system-cpu.js';
import { assertVerdict } from './verdict.js';

/** @param {ReturnType<typeof import('./bench.js').startBench>} bench that has ended @param {string[]} names of scenarios */
export function assertRelay(bench, names) {
  for (const name of names) {
    const result = bench.result(`pulsar-${name}`);
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
}
