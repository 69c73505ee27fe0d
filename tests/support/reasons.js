/** Every sentence on why a result is not a pass: those that are folded into one, each. @param {any} result @returns {string[]} */
export const reasonsOf = ({ reasons }) =>
  reasons.flatMap((/** @type {{ text: string, all?: string[] }} */ { text, all }) => all ?? [text]);

/** Kinds that only tell of the machine and of the generator on it: what else runs there brings them about. */
const OF_THE_MACHINE = ['machine', 'generator'];

/** The sentences that are no fault of the machine on which a test runs. @param {any} result @returns {string[]} */
export const faultsOf = ({ reasons }) =>
  reasonsOf({
    reasons: reasons.filter((/** @type {{ kind: string }} */ { kind }) => !OF_THE_MACHINE.includes(kind)),
  });
