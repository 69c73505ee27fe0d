/**
 * Times on a machine that others use, too. Others only spoil times: a time that holds in one of some tries is right, and a fault of
 * ours is in each try. Counts, kinds of errors and verdicts are no times: they hold in each try.
 */
import assert from 'node:assert/strict';
import { LIMITS } from './limits.js';
import { watchOthers, whyBusy } from './others.js';
import { faultsOf } from './reasons.js';

/** @typedef {import('./others.js').Busy} Busy */

/** The start of the message if only times have spoilt a test; tests/run.js looks for it. */
export const SPOILT = 'not in time: ';

export class Spoilt extends assert.AssertionError {
  /** @param {string} message */
  constructor(message) {
    super({ message: `${SPOILT}${message}` });
  }
}

/** Checks a time, a rate, or an order that a time decides. @param {boolean} holds @param {string} message */
export function timely(holds, message) {
  if (!holds) throw new Spoilt(message);
}

/**
 * Runs a test's body again if a time in it does not hold. The test fails if no try holds and the machine was quiet in any try. If
 * others kept the machine busy in all tries, the test is skipped, and reports their CPU use.
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

/** A result has only faults of the machine. The check that the link kept its settings counts as a time. @param {any} result */
export function timelyLink(result) {
  const unkept = result.validity.filter(
    (/** @type {{ check: string, ok: boolean }} */ { check, ok }) => !ok && /^link[ :]/.test(check),
  );
  timely(unkept.length === 0, JSON.stringify(unkept));
  assert.deepEqual(faultsOf(result), []);
}
