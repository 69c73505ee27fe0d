/**
 * From judged thresholds and validity checks to a verdict.
 *
 * An interrupted run judges nothing. Failed requests are a fact whatever the
 * generator did. All else is only judged where the run is valid.
 */
import { explain } from './errors.js';

const ABOUT_ERRORS = ['operation_failed', 'operation_errors', 'operation_anomalies'];

/**
 * @param {import('./thresholds.js').Judged[]} thresholds
 * @param {import('./validity.js').Check[]} validity
 * @param {{ name: string, requests: number, errors: Record<string, number> }[]} operations
 * @returns {{ verdict: 'pass' | 'fail' | 'inconclusive', reasons: string[] }}
 */
export function decide(thresholds, validity, operations) {
  const invalid = validity.filter((check) => check.ok === false);
  const crossed = thresholds.filter((line) => !line.ok);
  const aboutErrors = crossed.filter((line) => ABOUT_ERRORS.includes(line.metric));
  const reasons = [
    ...errorReasons(operations),
    ...crossed.map((line) => `${line.operation}: ${line.expression} does not hold: ${shown(line)}`),
    ...invalid.map((check) => `${check.check}: ${check.detail}`),
  ];
  const interrupted = invalid.some((check) => check.check === 'complete');
  if (interrupted) return { verdict: 'inconclusive', reasons };
  if (aboutErrors.length > 0) return { verdict: 'fail', reasons };
  if (invalid.length > 0) return { verdict: 'inconclusive', reasons };
  if (crossed.length > 0) return { verdict: 'fail', reasons };
  return { verdict: 'pass', reasons: [] };
}

/** @param {{ name: string, requests: number, errors: Record<string, number> }[]} operations */
function errorReasons(operations) {
  return operations.flatMap(({ name, requests, errors }) =>
    Object.entries(errors).map(
      ([kind, count]) => `${name}: ${count} × ${kind} in ${requests} requests: ${explain(kind)}`,
    ),
  );
}

/** @param {import('./thresholds.js').Judged} line */
function shown({ value, unit }) {
  if (value === null) return 'no sample';
  if (unit === 'ms') return `${value.toFixed(3)} ms`;
  if (unit === 'share') return `${(value * 100).toFixed(2)} %`;
  return unit === 'per_s' ? `${value.toFixed(1)} /s` : String(value);
}
