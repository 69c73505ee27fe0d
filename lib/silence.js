/**
 * Stops a run if the target no longer answers. Otherwise the run would measure how fast a dead system refuses. An answer to
 * any virtual user ends the silence. If the bench started the testbed, it sees the processes end and stops the run earlier.
 */
import exec from 'k6/execution';
import { Gauge, answered, unanswered } from 'k6/x/windtunnel/record';
import { stopAll } from './runners.js';

/** Silence that stops a run, ms, with at least three requests in a row. docs/explanation/verdicts.md lists both numbers. */
export const SILENT_MS = 10_000;

/** Kinds of a request without an answer. Any other kind is an answer. */
const UNANSWERED = ['connection_refused', 'connection_reset', 'timeout', 'dns', 'tls', 'network'];

/** Start of the silence, ms on the test's clock. Only a stopped run has a sample. */
const silentSince = new Gauge('target_silent_since_ms', true);

/**
 * Records a failed request. The success of an operation ends the silence in k6/modules/record.
 * @param {import('./errors.js').ErrorKind} kind
 * @param {number} startedAt now() at its start
 * @param {number} endedAt
 */
export function failedWith(kind, startedAt, endedAt) {
  if (!UNANSWERED.includes(kind)) return answered();
  const since = unanswered(startedAt);
  if (since < 0 || endedAt - since < SILENT_MS) return undefined;
  silentSince.add(since);
  const line = `the target has answered nothing for ${SILENT_MS / 1000} s (${kind}): the run is stopped`;
  stopAll(line);
  return exec.test.abort(line);
}
