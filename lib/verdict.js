/**
 * From judged thresholds and validity checks to a verdict.
 *
 * An interrupted run judges nothing. Failed requests are a fact whatever the
 * generator did. All else is only judged where the run is valid.
 */
import { explain } from './errors.js';

/**
 * @param {import('./thresholds.js').Judged[]} thresholds
 * @param {import('./validity.js').Check[]} validity
 * @param {{ name: string, requests: number, errors: Record<string, number> }[]} operations
 * @returns {{ verdict: 'pass' | 'fail' | 'inconclusive', reasons: string[] }}
 */
export function decide(thresholds, validity, operations) {
  const invalid = validity.filter((check) => check.ok === false);
  const crossed = thresholds.filter((line) => !line.ok);
  const aboutErrors = crossed.filter(
    (line) => line.metric === 'operation_failed' || line.metric === 'operation_errors',
  );
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

/**
 * The verdict of a run that raises the load until a bound breaks: finding the
 * limit is what it is for, and only a generator that gave out first spoils it.
 * @param {import('./thresholds.js').Judged[]} thresholds
 * @param {import('./validity.js').Check[]} validity
 * @returns {{ verdict: 'pass' | 'inconclusive', reasons: string[] }}
 */
export function decideLimit(thresholds, validity) {
  const generator = validity.filter((check) => check.ok === false && /generator|dropped/.test(check.check));
  const reasons = generator.map((check) => `${check.check}: ${check.detail}`);
  if (thresholds.every((line) => line.ok))
    reasons.push('no bound broke: the limit is above the highest load of this run');
  return { verdict: reasons.length === 0 ? 'pass' : 'inconclusive', reasons };
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
