/** Times single HTTP requests and judges their answers, in closed and open loops. */
import { wholeMs } from 'k6/x/windtunnel/record';
import { now } from './clock.js';
import { ofResponse } from './errors.js';

/**
 * @typedef {import('./operations.js').Operation} Operation
 * @typedef {import('k6/http').RefinedResponse<any>} Response
 */

/**
 * Closed loop: the latency of the request itself.
 * @param {Operation} operation
 * @param {number} status that means success
 * @param {() => Response} send
 * @param {(response: Response) => number | null} [carried] items that it carried, 1 unless given; null where
 *   the answer cannot be read
 */
export function timed(operation, status, send, carried) {
  operation.begin();
  const startedAt = now();
  const response = send();
  if (response.status !== status) return operation.failure(ofResponse(response), startedAt, now());
  const count = carried ? carried(response) : 1;
  if (count === null) return operation.failure('bad_response', startedAt, now());
  const ms = wholeMs(response);
  return operation.success(startedAt, startedAt + ms, ms, count);
}

/**
 * Open loop: the latency since the intended start. Nothing is recorded while the
 * loop warms up.
 * @param {Operation} operation
 * @param {number} status
 * @param {() => Response} send
 * @param {{ at: number, offset: number }} intended
 * @param {number} warmupMs
 * @param {(response: Response) => number | null} [carried]
 */
export function timedFrom(operation, status, send, intended, warmupMs, carried) {
  const recorded = intended.offset >= warmupMs;
  if (recorded) operation.begin();
  const startedAt = now();
  const response = send();
  const endedAt = now();
  if (!recorded) return undefined;
  operation.late(startedAt - intended.at);
  if (response.status !== status) return operation.failure(ofResponse(response), intended.at, endedAt);
  const count = carried ? carried(response) : 1;
  if (count === null) return operation.failure('bad_response', intended.at, endedAt);
  return operation.success(intended.at, endedAt, endedAt - intended.at, count);
}
