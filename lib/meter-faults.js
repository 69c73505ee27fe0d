/**
 * Failures that are the meter's own: of the generator, or of the machine that both share. They say nothing of the
 * system under test, so a run that has them is inconclusive, whatever else failed in it.
 */
import { OWN_LIMITS, explain } from './errors.js';

/** @typedef {import('./validity.js').Check} Check */

const kind = /** @type {const} */ ('meter');
const LIMITS = 'generator limits';
const CONTROLS = 'controls';

/** @param {{ name: string, errors: Record<string, number> }[]} operations @returns {Check | undefined} */
export function generatorLimits(operations) {
  const met = OWN_LIMITS.flatMap((own) => {
    const count = operations.reduce((sum, { errors }) => sum + (errors[own] ?? 0), 0);
    return count > 0 ? [`${count} × ${own}: ${explain(own)}`] : [];
  });
  if (met.length === 0) return undefined;
  return { check: LIMITS, kind, ok: false, detail: met.join('; ') };
}

/**
 * A control does the same without the system under test.
 * @param {string[]} controls names of operations
 * @param {import('./thresholds.js').Judged[]} crossed thresholds about errors that do not hold
 * @returns {Check | undefined}
 */
export function controlsHold(controls, crossed) {
  if (controls.length === 0) return undefined;
  const failed = controls.filter((name) => crossed.some(({ operation }) => operation === name));
  if (failed.length === 0) return { check: CONTROLS, kind, ok: true, detail: 'none failed' };
  const detail = `${failed.join(', ')} failed without the system: the generator, the far end or the machine is at fault`;
  return { check: CONTROLS, kind, ok: false, detail };
}

/** @param {Check[]} validity */
export const meterFailed = (validity) => validity.some((check) => check.kind === kind && check.ok === false);
