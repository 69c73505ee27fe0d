/**
 * Times on a machine that others use too. They only spoil: what holds in one of some tries is so, and a fault of ours is in each.
 * Counts, kinds of errors and verdicts are no times: they hold in each try.
 */
import assert from 'node:assert/strict';
import { faultsOf } from './reasons.js';

/** A try is not repeated for ever. */
const TRIES = 5;

class Spoilt extends assert.AssertionError {}

/** Of a time, a rate, or an order that a time decides. @param {boolean} holds @param {string} message */
export function timely(holds, message) {
  if (!holds) throw new Spoilt({ message });
}

/**
 * A test's body, which begins anew where a time in it does not hold.
 * @param {() => Promise<void>} body
 */
export const undisturbed = (body) => async () => {
  for (let tries = 1; ; tries += 1) {
    try {
      await body();
      return;
    } catch (error) {
      if (!(error instanceof Spoilt) || tries === TRIES) throw error;
    }
  }
};

/** A result has no fault but of the machine. That its link kept what was asked of it is a time. @param {any} result */
export function timelyLink(result) {
  const unkept = result.validity.filter(
    (/** @type {{ check: string, ok: boolean }} */ { check, ok }) => !ok && /^link[ :]/.test(check),
  );
  timely(unkept.length === 0, JSON.stringify(unkept));
  assert.deepEqual(faultsOf(result), []);
}
