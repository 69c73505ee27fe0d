/** Whether a figure grows with the number of users, in words. */
import { median } from '../spread.js';

/**
 * @typedef {{ users: number, value: number | null }} Point
 * @typedef {object} Growth
 * @property {'grows' | 'does not grow' | 'cannot tell'} word
 * @property {number | null} each median growth per user, in the figure's unit
 * @property {number | null} low end of the interval; null: too few turns
 * @property {number | null} high
 * @property {'linear' | 'not linear' | null} shape of a figure that grows; null: two levels show none
 */

/** The range of this many turns holds the median with a probability of 1 - 2^(1 - turns), here 97 %. */
const TURNS_LEAST = 6;
/** Growth up to the most users that counts as none, as a share of the figure with the fewest users. */
const NOTHING = 0.1;
/** Most distance of a level from the line, as a share of the growth up to the most users. */
const BENT = 0.15;

/** Growth per user from the fewest to the most users of one turn. @param {Point[]} turn by users */
function slopeOf(turn) {
  const [first, last] = [turn[0], turn[turn.length - 1]];
  return (Number(last.value) - Number(first.value)) / (last.users - first.users);
}

/** @param {Point[][]} turns @param {number} each @returns {Growth['shape']} */
function shapeOf(turns, each) {
  const levels = turns[0].map(({ users }, place) => ({
    users,
    value: median(turns.map((turn) => Number(turn[place].value))),
  }));
  if (levels.length < 3) return null;
  const [first] = levels;
  const all = each * (levels[levels.length - 1].users - first.users);
  const off = levels.map(({ users, value }) => value - first.value - each * (users - first.users));
  return Math.max(...off.map(Math.abs)) <= BENT * Math.abs(all) ? 'linear' : 'not linear';
}

/**
 * The slope of each turn is one observation. Their range is the interval.
 * @param {Point[][]} all of each turn, each by users
 * @returns {Growth}
 */
export function growthOf(all) {
  const turns = all.filter((turn) => turn.length > 1 && turn.every(({ value }) => value !== null));
  if (turns.length === 0) return { word: 'cannot tell', each: null, low: null, high: null, shape: null };
  const slopes = turns.map(slopeOf);
  const each = median(slopes);
  if (turns.length < TURNS_LEAST || turns.length < all.length)
    return { word: 'cannot tell', each, low: null, high: null, shape: null };
  const [low, high] = [Math.min(...slopes), Math.max(...slopes)];
  const [first] = turns[0];
  const more = turns[0][turns[0].length - 1].users - first.users;
  const little = NOTHING * median(turns.map(([{ value }]) => Number(value)));
  const interval = { each, low, high };
  if (low > 0 && each * more > little) return { word: 'grows', ...interval, shape: shapeOf(turns, each) };
  return { word: high * more <= little ? 'does not grow' : 'cannot tell', ...interval, shape: null };
}
