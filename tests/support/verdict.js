/** Checks of a result's verdict, and of its reasons. */
import assert from 'node:assert/strict';
import { FAIL, INCONCLUSIVE, PASS } from './exit-codes.js';
import { faultsOf, isOfABusyOne, isOfTheMachine, reasonsOf } from './reasons.js';
import { Spoilt } from './timely.js';

/** Whether only a crowded machine prevented a failure. @param {any} result */
export const isSpoilt = ({ verdict, reasons }) =>
  verdict === 'inconclusive' && reasons.some(isOfTheMachine) && reasons.every(isOfABusyOne);

/**
 * Checks the verdict and, if given, the exit code. An unexpected verdict prints the result's reasons. A pass may be inconclusive only
 * because of a crowded machine. Another verdict that only a crowded machine prevented is spoilt, so that an `undisturbed` test tries
 * again.
 * @param {any} result
 * @param {'pass' | 'fail' | 'inconclusive'} verdict
 * @param {number | string} [code] that the run ended with
 */
export function assertVerdict(result, verdict, code) {
  const reasons = reasonsOf(result).join('\n') || 'it gives no reasons';
  const crowded =
    result.verdict === 'inconclusive' && result.reasons.length > 0 && faultsOf(result).length === 0;
  const message = `the verdict is ${result.verdict}, not ${verdict}: ${reasons}`;
  if (verdict === 'fail' && isSpoilt(result)) throw new Spoilt(message);
  assert.ok(result.verdict === verdict || (verdict === 'pass' && crowded), message);
  // A bench ends a crowded run with its own code, which k6 itself does not know.
  if (crowded && code === INCONCLUSIVE) return;
  const expected = verdict === 'fail' ? FAIL : PASS;
  if (code !== undefined) assert.equal(code, expected, `exit code ${code}, not ${expected}: ${reasons}`);
}

/**
 * An operation fails more than its bound allows, and the result says so. The verdict is a failure, or inconclusive only because of a
 * crowded machine.
 * @param {any} result @param {string} operation @param {number} code that the run ended with
 */
export function assertTooManyFailed(result, operation, code) {
  const reasons = reasonsOf(result);
  const told = (/** @type {string} */ line) =>
    line.startsWith(`${operation}: `) && / failed, at most /.test(line);
  assert.ok(reasons.some(told), reasons.join('\n'));
  if (isSpoilt(result)) assert.equal(code, INCONCLUSIVE);
  else assertVerdict(result, 'fail', code);
}

/** Errors of requests when the system dies. A load that stops at once may see only the end of its connections. */
const OF_A_DEATH = ['connection_refused', 'connection_reset', 'network', 'cut'];

/** @param {Record<string, number>} errors of an operation whose system was killed */
export function assertDied(errors) {
  const kinds = Object.keys(errors);
  assert.ok(kinds.length > 0 && kinds.every((kind) => OF_A_DEATH.includes(kind)), JSON.stringify(errors));
}
