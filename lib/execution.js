/**
 * Cached objects of k6/execution. k6 builds all accessors at every read of `exec.instance` and `exec.scenario`, which
 * takes some µs. The objects stay valid for the life of a VU.
 */
import exec from 'k6/execution';
import { leave } from './runners.js';

/** @type {typeof exec.scenario | undefined} */
let scenario;

/** exec.scenario. Only for iterations. */
export const ownScenario = () => (scenario ??= exec.scenario);

/** @type {unknown} */
let data;

/**
 * A copy of what setup() returned. k6 passes a view of Go maps: each read costs about 1 µs and creates new values.
 * @template T @param {T} given @returns {T}
 */
export const ownData = (given) => /** @type {T} */ (data ??= JSON.parse(JSON.stringify(given)));

/**
 * In setup(): aborts the run before the load, with a one-line message.
 * @param {string} line @returns {never}
 */
export function stop(line) {
  leave(`could not set up: ${line}`);
  exec.test.abort(line);
  throw new Error(line);
}
