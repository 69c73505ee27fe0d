/** Further turns of the rows that the planned ones have not decided, until they are, or the time is over. */
import { mostMinutes, nextLook } from 'k6/x/windtunnel/difference';
import { undecided as undecidedRows } from 'k6/x/windtunnel/judge';
import { said, say } from 'k6/x/windtunnel/record';
import { isUse } from '../link/uses.js';
import { mostOf } from '../variables.js';
import { protocolsOf, shownOf } from './result.js';

/** The note that has the looks; no row is called so. */
const LOOKS = '-looks';

/** A look at hardly more turns than the one before decides little, and costs its share of the error rate. */
const LOOK_GROWTH = 1.4;

/** Further minutes of a row in `quick`. All 49 rows need nine further turns each, estimated at 20 minutes together. */
const QUICK_ROW_MIN = 0.5;

/**
 * The most minutes of further turns, unless MINUTES is set. Many rows need more turns before a miss is possible.
 * @param {string} profile
 * @param {number} rows
 */
export const furtherMinutes = (profile, rows) =>
  Math.max(mostMinutes(profile), profile === 'quick' ? Math.ceil(rows * QUICK_ROW_MIN) : 0);

/**
 * @typedef {object} Further
 * @property {number} first turns of the first look
 * @property {number} most turns of a row
 * @property {number} until when a turn may begin, ms since 1970
 * @property {(looks: number[]) => number[]} undecided places of the rows that these looks have left undecided, in the order in
 *   which to go on with them
 * @property {(row: number, turns: number) => boolean} turn measures one more turn of a row that has fewer than so many; false
 *   where it has them, or cannot go on
 * @property {(looks: number[]) => void} note keeps the looks
 * @property {() => number} [clock] ms since 1970
 */

/**
 * One row after the other has as many turns as the next look takes; then all are looked at again. A look that is begun counts,
 * whether or not each row has its turns when the time is over.
 * @param {Further} further
 * @returns {number[]} the looks, numbers of turns
 */
export function goFurther({ first, most, until, undecided, turn, note, clock = Date.now }) {
  const looks = [first];
  for (;;) {
    const last = looks[looks.length - 1];
    note(looks);
    for (const row of undecided(looks)) {
      let goesOn = true;
      while (goesOn && clock() < until) goesOn = turn(row, last);
    }
    let next = nextLook(last);
    if (next < LOOK_GROWTH * last) next = nextLook(next);
    if (next > most || clock() >= until || undecided(looks).length === 0) return looks;
    looks.push(next);
  }
}

/**
 * The same of rows that were measured, for some minutes.
 * @param {import('./measured-row.js').MeasuredRow[]} measured
 * @param {import('./result.js').Asked} asked
 * @param {number} minutes
 */
export function measureFurther(measured, asked, minutes) {
  const notes = Object.fromEntries(measured.map((one) => [one.row.row, one.notes]));
  const { turns_to_miss: fewest = 0 } = protocolsOf(notes, { ...asked, looks: [asked.turns] });
  goFurther({
    // With fewer turns no target is missed, and none is met.
    first: Math.max(asked.turns, fewest),
    most: mostOf('TURNS'),
    until: Date.now() + minutes * 60_000,
    undecided: (looks) => undecidedRows(protocolsOf(notes, { ...asked, looks }).rows),
    turn: (row, most) => measured[row].more(most),
    note: (looks) => say(LOOKS, looks),
  });
}

/**
 * In handleSummary: what is shown of all turns.
 * @param {import('./result.js').Asked} asked
 * @param {number[]} planned looks of a run that had no further turns
 */
export function comparedOf(asked, planned) {
  const { [LOOKS]: looks = planned, ...others } = said();
  const notes = Object.fromEntries(Object.entries(others).filter(([name]) => !isUse(name)));
  return shownOf(notes, { ...asked, looks });
}
