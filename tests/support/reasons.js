/** Every sentence on why a result is not a pass: those that are folded into one, each. @param {any} result @returns {string[]} */
export const reasonsOf = ({ reasons }) =>
  reasons.flatMap((/** @type {{ text: string, all?: string[] }} */ { text, all }) => all ?? [text]);

/** Kinds that only tell of the machine and of the generator on it: what else runs there brings them about. */
const OF_THE_MACHINE = ['machine', 'generator'];

/** @typedef {{ kind: string, busy_machine?: boolean }} Reason */

/** @param {Reason} reason */
export const isOfTheMachine = ({ kind }) => OF_THE_MACHINE.includes(kind);

/** Whether others on the machine can have brought it about. @param {Reason} reason */
export const isOfABusyOne = (reason) => isOfTheMachine(reason) || reason.busy_machine === true;

/** The sentences that are no fault of the machine on which a test runs. @param {any} result */
export const faultsOf = ({ reasons }) =>
  reasonsOf({ reasons: reasons.filter((/** @type {Reason} */ reason) => !isOfTheMachine(reason)) });
