/**
 * k6/execution builds an object with all of its accessors at every `exec.instance`
 * and `exec.scenario`: some µs each time. The objects stay true for the whole life
 * of a VU, so each VU keeps its own.
 */
import exec from 'k6/execution';
import { leave } from './runners.js';

/** @type {typeof exec.scenario | undefined} */
let scenario;

/** exec.scenario; in iterations only. */
export const ownScenario = () => (scenario ??= exec.scenario);

/** @type {unknown} */
let data;

/**
 * What setup() returned, as this VU's own object: k6 hands out a view of Go maps, and
 * each look into it costs a µs and makes the values anew.
 * @template T @param {T} given @returns {T}
 */
export const ownData = (given) => /** @type {T} */ (data ??= JSON.parse(JSON.stringify(given)));

/**
 * In setup(): ends the run before the load with one line.
 * @param {string} line @returns {never}
 */
export function stop(line) {
  leave(`could not set up: ${line}`);
  exec.test.abort(line);
  throw new Error(line);
}
