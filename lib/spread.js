/** Median, minimum and maximum of the values of several turns. */

/** @typedef {{ median: number, min: number, max: number }} Spread */

/** @param {(number | null)[]} values null: unknown @returns {Spread | null} of the known values; null: none is known */
export function spreadOf(values) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  return { median: middle, min: sorted[0], max: sorted[sorted.length - 1] };
}

/** @param {number[]} values @returns {number} NaN without values */
export const median = (values) => spreadOf(values)?.median ?? NaN;
