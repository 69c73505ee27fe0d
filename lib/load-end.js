/** How long a load lasted, where no sidecar saw it. k6's own test goes on while teardown() cleans up. */
import { said, say } from 'k6/x/windtunnel/record';

/** ms since 1970: k6 has no test clock in teardown(). */
const ENDED = 'load_ended_unix_ms';

/** First in teardown(). */
export const loadHasEnded = () => say(ENDED, Date.now());

/**
 * In handleSummary, until teardown() where there was one, s.
 * @param {{ loadFrom: number, wallOffset: number }} begun what setup() returned
 * @param {number} durationMs of the test
 */
export function loadSeconds({ loadFrom, wallOffset }, durationMs) {
  const ended = said()[ENDED];
  return ((ended === undefined ? durationMs : ended - wallOffset) - loadFrom) / 1000;
}

/** The parameter of a load that does more than its profile says. @param {import('./profiles.js').Load} load */
export const timesOf = ({ times = 1 }) => (times > 1 ? { times } : {});

/** What k6 itself counted. @param {import('k6/x/windtunnel/record').Metrics} metrics of its summary */
export const countsOf = ({ iterations, dropped_iterations: dropped }) => ({
  iterations: iterations?.values.count ?? 0,
  dropped_iterations: dropped?.values.count ?? 0,
});
