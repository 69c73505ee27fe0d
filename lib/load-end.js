/** The duration of a load in a run without a sidecar. k6's test duration includes the clean-up in teardown(). */
import { said, say } from 'k6/x/windtunnel/record';
import { atOnceParameter } from './at-once.js';

/** Name of the note with the load's end, ms since 1970. k6 has no test clock in teardown(). */
const ENDED = 'load_ended_unix_ms';

/** Records the load's end. Call it first in teardown(). */
export const loadHasEnded = () => say(ENDED, Date.now());

/**
 * In handleSummary: the load's duration in seconds. Without a teardown() the load ends with the test.
 * @param {{ loadFrom: number, wallOffset: number }} begun what setup() returned
 * @param {number} durationMs of the test
 */
export function loadSeconds({ loadFrom, wallOffset }, durationMs) {
  const ended = said()[ENDED];
  return ((ended === undefined ? durationMs : ended - wallOffset) - loadFrom) / 1000;
}

/** Parameters of a load that is a multiple of its profile's load, or that runs at once with another load. @param {import('./profiles.js').Load} load */
export const timesOf = ({ times = 1 }) => ({ ...(times > 1 ? { times } : {}), ...atOnceParameter });

/** Counts of k6. @param {import('k6/x/windtunnel/record').Metrics} metrics of k6's summary */
export const countsOf = ({ iterations, dropped_iterations: dropped }) => ({
  iterations: iterations?.values.count ?? 0,
  dropped_iterations: dropped?.values.count ?? 0,
});
