/**
 * Stops a run whose target answers nobody any more: what it would measure is how fast a dead system refuses. The requests
 * of all virtual users count together: an answer to one of them is an answer. Where a testbed was started, the bench sees its
 * processes end and is sooner.
 */
import exec from 'k6/execution';
import { Gauge, answered as heard, unanswered } from 'k6/x/windtunnel/record';
import { stopAll } from './runners.js';

/** So long without any answer, and at least three requests in a row. docs/explanation/verdicts.md explains both. */
export const SILENT_MS = 10_000;

/** Kinds of a request to which nobody answered; any other is an answer, if a bad one. */
const UNANSWERED = ['connection_refused', 'connection_reset', 'timeout', 'dns', 'tls', 'network'];

/** When the silence began, ms on the test's clock; a sample where a run was stopped. */
const silentSince = new Gauge('target_silent_since_ms', true);

export const answered = () => heard();

/**
 * A request failed.
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
