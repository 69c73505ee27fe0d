/**
 * Times on a machine that others use too. They only spoil: what holds in one of some tries is so, and a fault of ours is in each.
 * Counts, kinds of errors and verdicts are no times: they hold in each try.
 */
import assert from 'node:assert/strict';
import { LIMITS } from './limits.js';
import { watchOthers, whyBusy } from './others.js';
import { faultsOf } from './reasons.js';

/** @typedef {import('./others.js').Busy} Busy */

/** The start of the message of what only times have spoilt; tests/run.js looks for it. */
export const SPOILT = 'not in time: ';

export class Spoilt extends assert.AssertionError {
  /** @param {string} message */
  constructor(message) {
    super({ message: `${SPOILT}${message}` });
  }
}

/** Of a time, a rate, or an order that a time decides. @param {boolean} holds @param {string} message */
export function timely(holds, message) {
  if (!holds) throw new Spoilt(message);
}

/**
 * A test's body, which begins anew where a time in it does not hold. The test fails where that is so to the end and the machine was
 * quiet in any of the tries. Where others kept the machine busy in all of them, the test is skipped, with what they used.
 * @template {{ skip: (why: string) => void }} Context
 * @param {(context: Context) => Promise<void>} body
 * @param {() => () => Busy} [watch] of its test
 * @returns {(context: Context) => Promise<void>}
 */
export const undisturbed =
  (body, watch = watchOthers) =>
  async (context) => {
    const began = performance.now();
    /** @type {Busy[]} */
    const spoilt = [];
    for (;;) {
      const end = watch();
      try {
        await body(context);
        end();
        return;
      } catch (error) {
        spoilt.push(end());
        if (!(error instanceof Spoilt)) throw error;
        if (spoilt.length < LIMITS.tries && performance.now() - began < LIMITS.last_begins_s * 1000) continue;
        const busy = spoilt.every((one) => one.busy);
        if (!busy) throw error;
        context.skip(`${whyBusy(spoilt[spoilt.length - 1])}: ${error.message.split('\n')[0]}`);
        return;
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
