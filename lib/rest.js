/** The system at rest, before the load and in the quiet period after it. */
import { quietSeconds } from './profiles.js';
import { awaitQuietPeriod } from './sidecar.js';
import { envNumber } from './variables.js';

/** How long its processes are watched before the load, and at least after it, seconds; 0: not at all. */
export const restSeconds = () => envNumber('REST_S');

/** The longest wait after the load, seconds. */
export const waitAfterLoad = () => Math.max(quietSeconds(), restSeconds());

/**
 * Cleans up after the quiet period, so that no request of the clean-up falls into it.
 * @param {string | null} window that is closed
 * @param {boolean} watched before the load, so that the two can be compared
 * @param {() => void} cleanUp
 */
export const afterRest = (window, watched, cleanUp) => () => {
  awaitQuietPeriod(window, quietSeconds(), watched ? restSeconds() : 0);
  cleanUp();
};
