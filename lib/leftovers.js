/** Reports what a run could not remove from its target, and the command that removes it. */
import { Counter } from 'k6/x/windtunnel/record';
import { defaultOf } from './variables.js';

const left = new Counter('cleanup_left');
const unknown = new Counter('cleanup_unknown');

/**
 * The command that removes what a run created; '' if the run's testbed is deleted anyway.
 * @param {string} system
 * @param {string} runId
 */
export const removeWith = (system, runId) =>
  __ENV.INSTANCE
    ? ''
    : `bin/windtunnel clean-up ${runId} --system ${system} --env ${__ENV.ENV || defaultOf('ENV')}`;

/**
 * In teardown(), or after a failed set-up: records and logs how many things are left.
 * @param {string} system
 * @param {string} runId
 * @param {string} what plural noun
 * @param {number | null} count null: unknown
 * @param {number} [most] the maximum, if the count is unknown
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
