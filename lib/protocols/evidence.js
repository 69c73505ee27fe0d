/**
 * Which figures of a turn are measurements, and which turns lack one. A comparison passes by measurements of both sides alone:
 * a value that no system can reach is no measurement, and a turn without one is never left out in silence.
 */

/**
 * @typedef {import('./compare.js').Turn} Turn
 * @typedef {'baseline' | 'candidate'} SideName
 *
 * @typedef {object} Figure
 * @property {string} figure name of it in a turn
 * @property {'higher' | 'lower'} better
 * @property {number} least possible value
 * @property {number} most possible value
 *
 * @typedef {object} Sides
 * @property {Turn[]} baseline
 * @property {Turn[]} candidate
 * @property {number} [planned] turns of each side
 */

/** @param {number | null | undefined} value @returns {value is number} */
const isAmount = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/**
 * The measurement of one turn, or null. A value of the candidate that is worse than possible is evidence against the candidate.
 * The same value of the baseline is no evidence for the candidate.
 * @param {Turn | undefined} turn
 * @param {Figure} of
 * @param {SideName} side
 * @returns {number | null}
 */
export function valueIn(turn, { figure, better, least, most }, side) {
  const value = turn?.[figure];
  if (!isAmount(value)) return null;
  const tooLow = value < least && !(side === 'candidate' && better === 'higher');
  const tooHigh = value > most && !(side === 'candidate' && better === 'lower');
  return tooLow || tooHigh ? null : value;
}

/** The number of turns, at least the planned one. @param {Sides} sides */
const turnsOf = ({ baseline, candidate, planned = 0 }) =>
  Math.max(planned, baseline.length, candidate.length);

/** The measurements of both sides by turn. @param {Sides} sides @param {Figure} of @returns {[number | null, number | null][]} */
export const pairsOf = (sides, of) =>
  Array.from({ length: turnsOf(sides) }, (_, index) => [
    valueIn(sides.baseline[index], of, 'baseline'),
    valueIn(sides.candidate[index], of, 'candidate'),
  ]);

/**
 * Which turns lack a figure, in words; null where all have it.
 * @param {Sides} sides
 * @param {Figure} of
 * @returns {string | null}
 */
export function lackIn(sides, of) {
  const pairs = pairsOf(sides, of);
  const lacking = /** @type {const} */ (['baseline', 'candidate']).flatMap((side, place) => {
    const turns = pairs.flatMap((pair, index) => (pair[place] === null ? [index + 1] : []));
    return turns.length > 0 || pairs.length === 0 ? [`${nameOf(turns, pairs.length)} of the ${side}`] : [];
  });
  return lacking.length > 0 ? `not measured in ${lacking.join(' and ')}` : null;
}

/** @param {number[]} turns @param {number} all */
function nameOf(turns, all) {
  if (turns.length === all) return 'any turn';
  if (turns.length === 1) return `turn ${turns[0]}`;
  return `${turns.length} of ${all} turns (the first is turn ${turns[0]})`;
}

/**
 * Whether a candidate has none of what the baseline has in each turn, since its operations failed. That is no gap in the evidence.
 * @param {Sides} sides
 * @param {Figure} of
 * @param {Figure} carrier of the operations that the figure is measured by
 */
export function failsAll({ baseline, candidate }, of, carrier) {
  const has = (/** @type {Turn} */ turn) => valueIn(turn, of, 'baseline') !== null;
  const fails = (/** @type {Turn} */ turn) =>
    valueIn(turn, of, 'candidate') === null &&
    !valueIn(turn, carrier, 'candidate') &&
    Number(turn.failed) > 0;
  return baseline.length > 0 && baseline.every(has) && candidate.length > 0 && candidate.every(fails);
}
