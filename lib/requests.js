/**
 * Times single HTTP requests and judges their answers, in closed and open loops.
 *
 * | metric             | type    | unit  | what                                                                     |
 * |--------------------|---------|-------|--------------------------------------------------------------------------|
 * | connections_opened | counter | count | connections that requests of the load opened                             |
 * | idle_resets        | counter | count | requests on a connection that the target had closed while idle; each was sent again |
 */
import { Counter, exchange, opened } from 'k6/x/windtunnel/record';
import { detailOf, isAccepted } from './answers.js';
import { now } from './clock.js';
import { ofResponse } from './errors.js';

/**
 * @typedef {import('./operations.js').Operation} Operation
 * @typedef {import('k6/http').RefinedResponse<any>} Response
 */
/**
 * Number of items that an answer carried. null, or a text that says what is wrong, means that the content is invalid.
 * @typedef {(response: Response) => number | string | null} Carried
 */

/** A reset on a connection that was idle for less time is the target's fault, ms. The shortest usual idle timeout is 1 s. */
const IDLE_MS = 900;

const connectionsOpened = new Counter('connections_opened');
const idleResets = new Counter('idle_resets');

/** now() at which this VU's last request ended. */
let lastEnd = -Infinity;

/**
 * Counts the connection that a request opened. Returns whether the target had closed the reused connection while it
 * was idle.
 * @param {Response} response
 * @param {{ fresh: boolean, status: number, startedAt: number }} exchanged
 */
function metClosed(response, { fresh, status, startedAt }) {
  if (fresh) connectionsOpened.add(1);
  if (fresh || status !== 0 || startedAt - lastEnd < IDLE_MS) return false;
  const closed = ofResponse(response) === 'connection_reset';
  if (closed) idleResets.add(1);
  return closed;
}

/**
 * Sends a request. If the target had closed the idle connection, sends the request once more, as browsers and HTTP
 * libraries do. `ms` is the request's own time by k6, or the time of both requests.
 * @param {() => Response} send
 */
export function sent(send) {
  const first = exchange(send);
  const again = metClosed(first.response, first);
  lastEnd = first.endedAt;
  if (!again) return first;
  const second = exchange(send);
  if (second.fresh) connectionsOpened.add(1);
  const { startedAt } = first;
  lastEnd = second.endedAt;
  return { ...second, startedAt, ms: lastEnd - startedAt };
}

/** sent() for an asynchronous request. @param {() => Promise<Response>} send */
export async function sentAsync(send) {
  const startedAt = now();
  const first = await send();
  const again = metClosed(first, { fresh: opened(first), status: first.status, startedAt });
  const response = again ? await send() : first;
  if (again && opened(response)) connectionsOpened.add(1);
  lastEnd = now();
  return response;
}

/** Counts the connection that a client opens before its load. @param {Response} response */
export function connected(response) {
  if (opened(response)) connectionsOpened.add(1);
  lastEnd = now();
}

/**
 * Judges an answer: the number of its items, or the kind and the detail of its error.
 * @param {{ response: Response, status: number }} exchanged
 * @param {number | null} wanted
 * @param {Carried} [carried]
 * @returns {number | [import('./errors.js').ErrorKind, string | undefined]}
 */
function judged({ response, status }, wanted, carried) {
  if (!isAccepted({ status }, wanted)) return [ofResponse(response), detailOf(response)];
  const count = carried ? carried(response) : 1;
  if (typeof count === 'number') return count;
  return ['bad_response', `HTTP ${status}: ${count ?? 'the content is wrong'}`];
}

/**
 * Times a request of a closed loop: the latency of the request alone.
 * @param {Operation} operation
 * @param {number | null} status that means success; null: any 2xx
 * @param {() => Response} send
 * @param {Carried} [carried] number of items; default 1
 */
export function timed(operation, status, send, carried) {
  operation.begin();
  const exchanged = sent(send);
  const { startedAt, endedAt, ms } = exchanged;
  const found = judged(exchanged, status, carried);
  if (typeof found !== 'number') return operation.failure(found[0], startedAt, endedAt, found[1]);
  return operation.success(startedAt, startedAt + ms, ms, found);
}

/**
 * Times a request of an open loop: the latency since the intended start. Requests of the warm-up are not recorded.
 * @param {Operation} operation
 * @param {number | null} status
 * @param {() => Response} send
 * @param {{ at: number, offset: number }} intended
 * @param {number} warmupMs
 * @param {Carried} [carried]
 */
export function timedFrom(operation, status, send, intended, warmupMs, carried) {
  const recorded = intended.offset >= warmupMs;
  if (recorded) operation.begin();
  const exchanged = sent(send);
  if (!recorded) return undefined;
  const { startedAt, endedAt } = exchanged;
  operation.late(startedAt - intended.at);
  const found = judged(exchanged, status, carried);
  if (typeof found !== 'number') return operation.failure(found[0], intended.at, endedAt, found[1]);
  return operation.success(intended.at, endedAt, endedAt - intended.at, found);
}
