/** Every reason why a result is not a pass, with each folded reason. @param {any} result @returns {string[]} */
export const reasonsOf = ({ reasons }) =>
  reasons.flatMap((/** @type {{ text: string, all?: string[] }} */ { text, all }) => all ?? [text]);

/** Kinds of reasons about the machine and the generator: other processes on the machine cause them. */
const OF_THE_MACHINE = ['machine', 'generator'];

/** @typedef {{ kind: string, busy_machine?: boolean }} Reason */

/** @param {Reason} reason */
export const isOfTheMachine = ({ kind }) => OF_THE_MACHINE.includes(kind);

/** Whether others on the machine can have caused the reason. @param {Reason} reason */
export const isOfABusyOne = (reason) => isOfTheMachine(reason) || reason.busy_machine === true;

/** The reasons that the test's machine did not cause. @param {any} result */
export const faultsOf = ({ reasons }) =>
  reasonsOf({ reasons: reasons.filter((/** @type {Reason} */ reason) => !isOfTheMachine(reason)) });
