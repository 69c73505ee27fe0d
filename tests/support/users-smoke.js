/** Checks of results of the system `users`. */
import assert from 'node:assert/strict';
import { rowsOf, sectionOf } from './sections.js';

/** @typedef {Pick<ReturnType<typeof import('./bench.js').startBench>, 'result'>} Bench */

/** Each change had its effect at the inbound, no flow of another user was lost, and nothing failed. @param {Bench} bench */
export function assertLive(bench) {
  const result = bench.result('users-live');
  const facts = result.integrity.filter((/** @type {any} */ { source }) => source === 'far_end');
  assert.deepEqual(
    facts.map((/** @type {any} */ { check, found }) => [check, found]),
    [
      ['data plane: untouched flows that were lost', 0],
      ['data plane: changes without effect', 0],
    ],
  );
  const rows = rowsOf(sectionOf(result, 'effects'));
  assert.deepEqual(
    rows.map(({ change }) => change),
    ['created: carries data', 'deleted: is refused'],
  );
  for (const row of rows)
    assert.ok(row.changes >= 3 && row.never === 0 && row.least <= row.most, JSON.stringify(row));
  for (const { name, requests, success, errors } of result.operations)
    assert.deepEqual([success, errors], [requests, {}], name);
}

/** Each user is charged right. @param {Bench} bench @returns {any[]} the rows of the users */
export function assertCharged(bench) {
  const result = bench.result('users-accounting');
  const section = sectionOf(result, 'charges');
  assert.equal(section.finding, 'All 10 users are charged right.');
  const [whole] = rowsOf(sectionOf(result, 'accounting'));
  // Both engines keep their counts in memory.
  assert.equal(whole.lost, whole.due);
  return rowsOf(section);
}
