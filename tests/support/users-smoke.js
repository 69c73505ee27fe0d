/** Checks of results of the system `users`. */
import assert from 'node:assert/strict';
import { rowsOf, sectionOf } from './sections.js';

/** @typedef {Pick<ReturnType<typeof import('./bench.js').startBench>, 'result'>} Bench */

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
