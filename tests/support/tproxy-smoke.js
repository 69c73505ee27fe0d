/** Checks of a smoke run of the transparent proxy. */
import assert from 'node:assert/strict';
import { operation } from './k6.js';
import { faultsOf } from './reasons.js';
import { rowsOf, sectionOf } from './sections.js';

/**
 * @param {ReturnType<typeof import('./bench.js').startBench>} bench that has ended
 * @param {string[]} processes of the system
 * @param {unknown[] | null} values of the sweep, or null without a sweep
 */
export function assertTransparent(bench, processes, values) {
  const result = bench.result('dataplane-tproxy');
  // A busy machine may make the run inconclusive and lose some datagrams.
  const odd = faultsOf(result).filter((reason) => !/\d × (lost|late) in|^udp: |^tcp: P\d/.test(reason));
  assert.deepEqual(odd, []);
  for (const [name, least] of /** @type {[string, number][]} */ ([
    ['tcp', 400],
    ['udp', 1990],
    ['udp_burst', 1900],
  ])) {
    const [own, direct] = [operation(result, name), operation(result, `${name}_direct`)];
    assert.ok(own.success >= least, `${name}: ${own.success}`);
    assert.equal(direct.success, direct.requests);
    assert.ok(own.latency_ms.p50 > direct.latency_ms.p50, `${name}: the proxy costs something`);
    assert.ok(own.cpu.system_us_per_operation > 0, `${name}: what is measured went through the proxy`);
  }
  const names = result.processes.filter(({ role }) => role === 'system').map(({ name }) => name);
  assert.deepEqual(names.sort(), processes);
  const swept = sectionOf(result, 'sweep');
  if (values) {
    assert.deepEqual(
      rowsOf(swept).map(({ value, runs }) => [value, runs]),
      values.map((value) => [value, 1]),
    );
    assert.ok(rowsOf(swept).every((row) => row.mbit_per_s.value > 0 && row.rtt_p99_ms.value > 0));
    assert.equal(swept.headline.value, 'no best value');
    assert.match(swept.headline.detail, /^1 run of each of \d values cannot tell a difference/);
  } else assert.equal(swept, undefined, 'sing-box has no such queue');
}
