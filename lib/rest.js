/** CPU use of the idle system, before the load and in the quiet period after it. */
import { quietSeconds } from './profiles.js';
import { awaitQuietPeriod } from './sidecar.js';
import { envNumber, given } from './variables.js';

/** Seconds that the system's processes are sampled before the load, and at least after it; 0: no sampling. */
export const restSeconds = () => envNumber('REST_S');

/** QUIET_S is a parameter too, if it is given: runs with different quiet periods are not compared. @param {Record<string, string | number | boolean>} parameters */
export const withQuiet = (parameters) =>
  given('QUIET_S') === undefined ? parameters : { quiet_s: quietSeconds(), ...parameters };

/** Time after the load in which the system must have closed its connections, seconds. */
export const SETTLE_S = 5;

/** The longest wait after the load, seconds. */
export const waitAfterLoad = () => Math.max(quietSeconds(), restSeconds(), SETTLE_S);

/**
 * Cleans up after the quiet period, so that no clean-up request falls into the quiet period.
 * @param {string | null} window a closed window
 * @param {{ ownInstances?: boolean, closesAll?: boolean }} definition of the scenario. Without own instances, processes were sampled before
 *   the load, so that both samples can be compared.
 * @param {() => void} cleanUp
 */
export const afterRest =
  (window, { ownInstances = false, closesAll = false }, cleanUp) =>
  () => {
    const rest_s = ownInstances ? 0 : restSeconds();
    awaitQuietPeriod(window, { seconds: quietSeconds(), rest_s, settle_s: SETTLE_S, closes_all: closesAll });
    cleanUp();
  };
