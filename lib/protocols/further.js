/** Further turns of undecided rows, until they are decided or the time is over. */
import { mostMinutes, nextLook } from 'k6/x/windtunnel/difference';
import { undecided as undecidedRows } from 'k6/x/windtunnel/judge';
import { said, say } from 'k6/x/windtunnel/record';
import { mostOf } from '../variables.js';
import { protocolsOf, shownOf } from './result.js';

/** Name of the note on the looks. No row has it. */
const LOOKS = '-looks';

/** Least growth between two looks. A look at few more turns decides little, and uses up a part of the error rate. */
const LOOK_GROWTH = 1.4;

/** Further minutes per row in `quick`. All 49 rows need nine further turns each, estimated at 20 minutes together. */
const QUICK_ROW_MIN = 0.5;

/**
 * Default of MINUTES. Many rows need more turns before a miss is possible.
 * @param {string} profile
 * @param {number} rows
 */
export const furtherMinutes = (profile, rows) =>
  Math.max(mostMinutes(profile), profile === 'quick' ? Math.ceil(rows * QUICK_ROW_MIN) : 0);

/**
 * @typedef {object} Further
 * @property {number} first number of turns of the first look
 * @property {number} most largest number of turns of a row
 * @property {number} until no turn begins after this time, ms since 1970
 * @property {(looks: number[]) => number[]} undecided indices of the rows that these looks have left undecided, in the order in
 *   which to continue them
 * @property {(row: number, turns: number) => boolean} turn measures one more turn of a row with fewer turns than `turns`; false
 *   if the row has them, or cannot continue
 * @property {(looks: number[]) => void} note records the looks
 * @property {() => number} [clock] ms since 1970
 */

/**
 * Measures one row after the other until each has the turns for the next look; then all rows are judged again. A look that has
 * begun counts, even if the time ends before each row has its turns.
 * @param {Further} further
 * @returns {number[]} the looks, as numbers of turns
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
 * goFurther() for measured rows, with a time limit in minutes.
 * @param {import('./measured-row.js').MeasuredRow[]} measured
 * @param {import('./result.js').Asked} asked
 * @param {number} minutes
 */
export function measureFurther(measured, asked, minutes) {
  const notes = Object.fromEntries(measured.map((one) => [one.row.row, one.notes]));
  const { turns_to_miss: fewest = 0 } = protocolsOf(notes, { ...asked, looks: [asked.turns] });
  goFurther({
    // With fewer turns a target can be neither missed nor met.
    first: Math.max(asked.turns, fewest),
    most: mostOf('TURNS'),
    until: Date.now() + minutes * 60_000,
    undecided: (looks) => undecidedRows(protocolsOf(notes, { ...asked, looks }).rows),
    turn: (row, most) => measured[row].more(most),
    note: (looks) => say(LOOKS, looks),
  });
}

/**
 * In handleSummary: the results of all turns.
 * @param {import('./result.js').Asked} asked
 * @param {number[]} planned looks of a run without further turns
 */
export function comparedOf(asked, planned) {
  const { [LOOKS]: looks = planned, ...notes } = said();
  return shownOf(notes, { ...asked, looks });
}
