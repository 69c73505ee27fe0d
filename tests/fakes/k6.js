/** k6 as far as lib/ uses it. */

/** Times that a script has slept, s. @type {number[]} */
export const slept = [];

/** @param {number} seconds */
export function sleep(seconds) {
  slept.push(seconds);
}
