/** Turns at several levels, such as numbers of users: cells of a table, and the growth of a figure in words. */
import { growthOf } from './growth.js';

/**
 * @template Figures
 * @typedef {object} Stated a figure whose growth is stated
 * @property {string} what
 * @property {string} unit of a step
 * @property {number} factor from the growth for each to that unit
 * @property {boolean} [lookup] Its growth shows a scan.
 * @property {(one: Figures) => number | null} of
 */

/** Two digits. @param {number} value */
const short = (value) => String(Number(value.toPrecision(2)));

/**
 * @template Figures
 * @param {Stated<Figures>} stated @param {Figures[][]} turns each by level @param {(one: Figures) => number} levelOf
 */
export function sentenceOf({ what, unit, factor, of, lookup }, turns, levelOf) {
  const { word, each, low, high, shape } = growthOf(
    turns.map((turn) => turn.map((one) => ({ users: levelOf(one), value: of(one) }))),
  );
  if (word !== 'grows' || each === null || low === null || high === null) return `${what}: ${word}.`;
  const amount = `${short(each * factor)} ${unit} (${short(low * factor)} to ${short(high * factor)})`;
  const scan = lookup && shape !== 'not linear' ? ': the lookup is a scan' : '';
  return `${what}: grows by ${amount}${shape ? `, ${shape}` : ''}${scan}.`;
}

/**
 * The turns that measured all levels, each by level.
 * @template {{ turn: number }} Figures
 * @param {Figures[]} all @param {number[]} levels ascending @param {(one: Figures) => number} levelOf
 */
export function wholeTurns(all, levels, levelOf) {
  const count = Math.max(-1, ...all.map(({ turn }) => turn)) + 1;
  return Array.from({ length: count }, (_, turn) =>
    levels.flatMap((level) => all.filter((one) => one.turn === turn && levelOf(one) === level)),
  ).filter((turn) => turn.length === levels.length);
}
