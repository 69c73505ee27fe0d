/** The system at rest, before the load and in the quiet period after it. */
import { quietSeconds } from './profiles.js';
import { awaitQuietPeriod } from './sidecar.js';
import { envNumber } from './variables.js';

/** How long its processes are watched before the load, and at least after it, seconds; 0: not at all. */
export const restSeconds = () => envNumber('REST_S');

/** The longest wait after the load, seconds. */
export const waitAfterLoad = () => Math.max(quietSeconds(), restSeconds());

/**
 * After the load and before the first request of the clean-up: the sidecar waits until the system has done what it put off.
 * @param {string | null} window that is closed
 * @param {boolean} watched before the load, so that the two can be compared
 */
export const restAfterLoad = (window, watched) =>
  awaitQuietPeriod(window, quietSeconds(), watched ? restSeconds() : 0);
