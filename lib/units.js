/** Units, and numbers in words. */

/** @param {number} share such as 0.25 */
export const percent = (share) => `${(share * 100).toFixed(0)} %`;
