/** Checks of a smoke run's data-plane scenarios, for any proxy. */
import assert from 'node:assert/strict';
import { operation } from './k6.js';
import { faultsOf } from './reasons.js';
import { rowsOf, sectionOf } from './sections.js';
import { assertSystemCpu } from './system-cpu.js';
import { timely } from './timely.js';

const split = ['throughput', 'concurrency'];
const SCENARIOS = ['socks-tcp', 'socks-udp', 'handshake', 'throughput', 'concurrency', 'queue-sweep'];

/**
 * Checks that the scenarios measured their operations, and passed, except for reasons of the machine. Returns their results.
 * @param {ReturnType<typeof import('./bench.js').startBench>} bench that has ended
 * @param {string} testbed
 * @param {string[]} [names] of the scenarios that it ran
 * @returns {any[]}
 */
export function assertDataplane(bench, testbed, names = SCENARIOS) {
  const results = names.map((name) => bench.result(`dataplane-${name}`));
  for (const result of results) assertSound(result);
  for (const result of results.filter(({ run }) => run.scenario !== 'queue-sweep'))
    assertProcesses(result, testbed);
  for (const result of results) MORE[result.run.scenario]?.(result);
  return results;
}

/** A result may report a busy machine, which is no fault of the tested system. @param {any} result */
function assertSound(result) {
  const { scenario } = result.run;
  // A sweep compares the losses of its values: on a crowded machine short queues lose some datagrams, and some arrive too late.
  const wrong = faultsOf(result).filter(
    (reason) => scenario !== 'queue-sweep' || !/^value_\d+: \d+ × (lost|late) in/.test(reason),
  );
  // Every lost datagram of these operations arrived after its timeout.
  const tardy = result.operations
    .filter((/** @type {any} */ { errors }) => errors.late > 0 && errors.late === errors.lost)
    .map((/** @type {any} */ { name }) => `${name}: `);
  const late = wrong.filter(
    (reason) =>
      /: P\d+ [\d.,]+ ms, at most /.test(reason) ||
      tardy.some((/** @type {string} */ name) => reason.startsWith(name)),
  );
  assert.deepEqual(
    wrong.filter((reason) => !late.includes(reason)),
    [],
    scenario,
  );
  timely(late.length === 0, late.join('\n'));
}

/** @param {any} result @param {string} testbed */
function assertProcesses(result, testbed) {
  const { run, processes } = result;
  assertSystemCpu(result);
  assert.equal(run.testbed.name, testbed);
  const rows = Object.fromEntries(processes.map((/** @type {any} */ row) => [row.name, row]));
  assert.ok(rows.client.cpu_s > 0 && rows.server.cpu_s > 0, `${run.scenario}: CPU of both`);
  assert.equal(rows.total.peak_rss_bytes, rows.client.peak_rss_bytes + rows.server.peak_rss_bytes);
  assert.equal(rows.total.peak_anon_bytes, rows.client.peak_anon_bytes + rows.server.peak_anon_bytes);
  assert.ok(rows.sidecar.cpu_s > 0, 'the meter’s own');
  assert.equal(run.placement.name, split.includes(run.scenario) ? 'split' : 'shared');
}

/** @param {string} name of an operation that has a control */
const beside = (name) => (/** @type {any} */ result) => {
  const [own, direct] = [operation(result, name), operation(result, `${name}_direct`)];
  assert.ok(own.latency_ms.p50 > direct.latency_ms.p50, `${name}: the proxy costs something`);
  assert.equal(result.controls[0].operation, name);
  assert.ok(own.cpu.system_us_per_operation > 0);
};

/** Checks of one scenario alone. @type {Record<string, (result: any) => void>} */
const MORE = {
  'socks-tcp'(result) {
    beside('tcp')(result);
    assert.equal(operation(result, 'tcp').transfer.bytes, 400 * 1024);
  },
  'socks-udp': beside('udp'),
  handshake: beside('handshake'),
  throughput({ operations }) {
    assert.ok(operations.every((/** @type {any} */ { transfer }) => transfer?.mbit_per_s > 0));
  },
  concurrency(result) {
    assert.deepEqual(
      rowsOf(sectionOf(result, 'tunnels')).map(({ asked, open }) => [asked, open]),
      [
        [10, 10],
        [100, 100],
      ],
    );
  },
  'queue-sweep'(result) {
    assert.equal(result.cpu, undefined, 'each run of a sweep has processes of its own');
    const swept = sectionOf(result, 'sweep');
    assert.equal(swept.rows.length, 4);
    assert.ok(rowsOf(swept).every(({ runs, mbit_per_s: rate }) => runs === 2 && rate.value > 0));
    assert.equal(swept.headline.value, 'no best value', 'two runs of each can tell nothing');
  },
};
