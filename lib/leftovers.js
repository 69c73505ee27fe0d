/** Tells how many things a run could not remove from its target, and the one command that removes them. */
import { Counter } from 'k6/x/windtunnel/record';
import { defaultOf } from './variables.js';

const left = new Counter('cleanup_left');
const unknown = new Counter('cleanup_unknown');

/**
 * The command that removes what a run made; '' where a testbed ends with it.
 * @param {string} system
 * @param {string} runId
 */
export const removeWith = (system, runId) =>
  __ENV.INSTANCE
    ? ''
    : `RUN_ID=${runId} ENV=${__ENV.ENV || defaultOf('ENV')} bin/k6 run --quiet scripts/${system}/_cleanup.js`;

/**
 * In teardown(), or where a set-up failed: counts in the result what is left, and says it in the log.
 * @param {string} system
 * @param {string} runId
 * @param {string} what in the plural
 * @param {number | null} count null: nobody could look
 * @param {number} [most] that may be left where nobody could look
 */
export function tellLeft(system, runId, what, count, most) {
  if (count === 0) return;
  if (count === null) unknown.add(1);
  if (count || most) left.add(count ?? most ?? 0);
  const command = removeWith(system, runId);
  const number = count ?? (most === undefined ? 'an unknown number of' : `up to ${most}`);
  const remedy = command ? `; once ${system} answers, this removes them: ${command}` : '';
  console.error(`${system}: ${number} ${what} ${count === null ? 'may be' : 'are'} left${remedy}`);
}
