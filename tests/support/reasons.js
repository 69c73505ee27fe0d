/** Every sentence on why a result is not a pass: those that are folded into one, each. @param {any} result @returns {string[]} */
export const reasonsOf = ({ reasons }) =>
  reasons.flatMap((/** @type {import('../../lib/reasons.js').Folded} */ { text, all }) => all ?? [text]);
