/** Checks of any result of the panel's scenarios. */
import assert from 'node:assert/strict';
import { assertVerdict } from './verdict.js';

/** A broken bound on time: these tests do not check the panel's speed on a shared machine. @param {{ kind: string, text: string }} reason */
const isOfTime = ({ kind, text }) => kind === 'threshold' && / ms, at most /.test(text);

/** On a crowded machine the run may have measured the generator; the result may have only this reason. @param {ReturnType<typeof import('./bench.js').startBench>} bench @param {string} name */
export function soundResult(bench, name) {
  const result = bench.result(`panel-${name}`);
  for (const row of result.operations) {
    assert.deepEqual([row.success, row.errors], [row.requests, {}], `${name}/${row.name}`);
    assert.ok(row.requests > 0 && row.rate_per_s > 0, `${name}/${row.name}`);
  }
  assertVerdict(
    { ...result, reasons: result.reasons.filter((/** @type {any} */ one) => !isOfTime(one)) },
    'pass',
  );
  return result;
}

/** Scenarios that try the switched users in the data plane. */
const SWITCHES = ['users-disable', 'users-enable'];
const IN_DATA_PLANE = [
  ['data plane: disabled users that carry data', 'far_end', true],
  ['data plane: active users that carry none', 'far_end', true],
];

/** Rows in the database agree with the result. @param {any} result */
export function assertIntegrity(result) {
  assert.deepEqual(
    result.integrity.map((/** @type {any} */ line) => [line.check, line.source, line.ok]),
    [
      ['users: created less deleted', 'sql', true],
      ['users: disabled', 'sql', true],
      ['users: active', 'sql', true],
      ['users: left after removal', 'sql', true],
      ['users of others', 'sql', true],
      ['users without a proxy of each protocol', 'sql', true],
      ['seeded users: left after removal', 'sql', true],
      ['proxies without a user', 'sql', true],
      ...(SWITCHES.includes(result.run.scenario) ? IN_DATA_PLANE : []),
      // A panel that is up already has no processes that the sidecar watches.
      ...(result.held ? [['left open', 'processes', true]] : []),
    ],
    result.run.scenario,
  );
}

/** @param {any} result */
export const processesOf = (result) => result.processes.map((/** @type {any} */ row) => row.name).toSorted();
