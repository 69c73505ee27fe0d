/**
 * From judged thresholds and validity checks to a verdict.
 *
 * A system that ended by itself has failed. An interrupted run judges nothing else. Failed requests are a fact
 * whatever the generator did, unless the meter failed by itself. All else is only judged where the run is valid.
 */
import { meterFailed } from './meter-faults.js';
import { crossedReasons, errorReasons, integrityReasons, invalidReasons } from './reasons.js';
import { systemEnded } from './validity.js';

/**
 * @typedef {object} Integrity whether the target holds what the run reported
 * @property {string} check
 * @property {number | null} reported
 * @property {number | null} found
 * @property {boolean | null} ok null: could not be checked, the detail says why
 * @property {string} detail
 * @property {'sql' | 'api' | 'dns'} source
 */

export const ABOUT_ERRORS = ['operation_failed', 'operation_errors', 'operation_anomalies'];

/**
 * @param {import('./thresholds.js').Judged[]} thresholds
 * @param {import('./validity.js').Check[]} validity
 * @param {{ name: string, requests: number, errors: Record<string, number> }[]} operations
 * @param {{ operation: string, control: string }[]} [controls]
 * @returns {{ verdict: 'pass' | 'fail' | 'inconclusive', reasons: import('./reasons.js').Reason[] }}
 */
export function decide(thresholds, validity, operations, controls = []) {
  const invalid = invalidReasons(validity);
  const crossed = thresholds.filter((line) => !line.ok);
  const aboutErrors = crossed.filter((line) => ABOUT_ERRORS.includes(line.metric));
  const reasons = [...errorReasons(operations, controls), ...crossedReasons(thresholds), ...invalid];
  if (systemEnded(validity)) return { verdict: 'fail', reasons };
  if (isInterrupted(validity)) return { verdict: 'inconclusive', reasons };
  if (aboutErrors.length > 0 && !meterFailed(validity)) return { verdict: 'fail', reasons };
  if (invalid.length > 0) return { verdict: 'inconclusive', reasons };
  if (crossed.length > 0) return { verdict: 'fail', reasons };
  return { verdict: 'pass', reasons: [] };
}

/** @param {import('./validity.js').Check[]} validity */
export const isInterrupted = (validity) =>
  validity.some((check) => check.check === 'complete' && check.ok === false);

/**
 * Data that was lost is a failure whatever the figures are, and a run whose data could not be counted does not
 * pass; an interrupted run still judges nothing.
 * @template {{ verdict: 'pass' | 'fail' | 'inconclusive', reasons: import('./reasons.js').Reason[] }} V
 * @param {V} judged
 * @param {Integrity[]} integrity
 * @param {import('./validity.js').Check[]} validity
 * @returns {V}
 */
export function withIntegrity(judged, integrity, validity) {
  const [broken, unknown] = [integrityReasons(integrity, false), integrityReasons(integrity, null)];
  // What could not be counted mostly follows from the rest: an interrupt, a dead target.
  const reasons = [...broken, ...judged.reasons, ...unknown];
  if (isInterrupted(validity)) return { ...judged, reasons };
  if (broken.length > 0) return { ...judged, verdict: 'fail', reasons };
  if (unknown.length === 0) return judged;
  return { ...judged, verdict: judged.verdict === 'pass' ? 'inconclusive' : judged.verdict, reasons };
}
