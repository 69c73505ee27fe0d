/** What a known-answer test asks of a result's verdict. */
import assert from 'node:assert/strict';
import { reasonsOf } from './reasons.js';

/**
 * The verdict, and where it is told the exit code, are the expected ones; else the result's reasons are printed: on a
 * crowded machine they tell that it was the machine.
 * @param {any} result
 * @param {'pass' | 'fail' | 'inconclusive'} verdict
 * @param {number | string} [code] that the run ended with
 */
export function assertVerdict(result, verdict, code) {
  const reasons = reasonsOf(result).join('\n') || 'it gives no reasons';
  assert.equal(result.verdict, verdict, `the verdict is ${result.verdict}, not ${verdict}: ${reasons}`);
  // k6 itself knows no inconclusive.
  const expected = verdict === 'fail' ? 99 : 0;
  if (code !== undefined) assert.equal(code, expected, `exit code ${code}, not ${expected}: ${reasons}`);
}
