/**
 * Which figures of a turn are valid measurements, and which turns lack one. Only measurements of both sides can make a
 * comparison pass. A value outside the possible range is no measurement, and a turn without one is always reported.
 */

/**
 * @typedef {import('./compare.js').Turn} Turn
 * @typedef {'baseline' | 'candidate'} SideName
 *
 * @typedef {object} Figure
 * @property {string} figure its name in a turn
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
 * The measurement of one turn, or null. An impossibly bad value of the candidate still counts, as evidence against the
 * candidate. The same value of the baseline does not count, since it would favour the candidate.
 * @param {Turn | undefined} turn
 * @param {Figure} of
 * @param {SideName} side
 * @returns {number | null}
 */
function valueIn(turn, { figure, better, least, most }, side) {
  const value = turn?.[figure];
  if (!isAmount(value)) return null;
  const tooLow = value < least && !(side === 'candidate' && better === 'higher');
  const tooHigh = value > most && !(side === 'candidate' && better === 'lower');
  return tooLow || tooHigh ? null : value;
}

/** The number of turns, at least the planned number. @param {Sides} sides */
const turnsOf = ({ baseline, candidate, planned = 0 }) =>
  Math.max(planned, baseline.length, candidate.length);

/** The measurements of both sides by turn. @param {Sides} sides @param {Figure} of @returns {[number | null, number | null][]} */
export const pairsOf = (sides, of) =>
  Array.from({ length: turnsOf(sides) }, (_, index) => [
    valueIn(sides.baseline[index], of, 'baseline'),
    valueIn(sides.candidate[index], of, 'candidate'),
  ]);

/**
 * Which turns lack a figure, in words; null if all have it.
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
 * Whether the candidate lacks a figure in every turn because its operations failed, while the baseline always has it. Then the
 * missing values are no gap in the evidence.
 * @param {Sides} sides
 * @param {Figure} of
 * @param {Figure} carrier figure of the operations that produce `of`
 */
export function failsAll({ baseline, candidate }, of, carrier) {
  const has = (/** @type {Turn} */ turn) => valueIn(turn, of, 'baseline') !== null;
  const fails = (/** @type {Turn} */ turn) =>
    valueIn(turn, of, 'candidate') === null &&
    !valueIn(turn, carrier, 'candidate') &&
    Number(turn.failed) > 0;
  return baseline.length > 0 && baseline.every(has) && candidate.length > 0 && candidate.every(fails);
}
