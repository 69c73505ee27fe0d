/** What the rows of a run say together. */
import { crossedReasons, invalidReasons, reasonOf } from '../reasons.js';
import { isInterrupted } from '../verdict.js';
import { mostOf } from '../variables.js';
import { ESSENTIAL } from './excuse.js';

/** Turns of a row at most. */
export const TURNS_MOST = mostOf('TURNS');

/**
 * @typedef {object} SideResult
 * @property {import('./outcome.js').Name} outcome
 * @property {string | null} detail
 * @property {string | null} known the fault that excuses its errors
 * @property {Record<string, import('../dataplane/sweep.js').Spread | null>} figures
 *
 * @typedef {object} RowResult
 * @property {string} row
 * @property {SideResult} baseline
 * @property {SideResult | null} candidate null where there is none
 * @property {import('./compare.js').Comparison[]} comparison
 * @property {{ baseline: number, candidate: number, ok: boolean } | null} [round_trips]
 *
 * @typedef {object} Base the rest of the result
 * @property {string} verdict
 * @property {import('../thresholds.js').Judged[]} thresholds
 * @property {import('../validity.js').Check[]} validity
 */

/** @param {SideResult} side */
export const isFine = ({ outcome, known }) =>
  outcome === 'measured' || outcome === 'impossible here' || known !== null;

/** @param {string} row @param {string} name @param {SideResult | null} side */
function told(row, name, side) {
  if (side === null || isFine(side)) return [];
  return [
    reasonOf('row', `${row}: ${name}: ${side.outcome}${side.detail ? `: ${side.detail}` : ''}`, side.outcome),
  ];
}

/** From so many times as much on per cents are no help. */
const MANY_TIMES = 10;

/** @param {number | null} value */
const percent = (value) =>
  Number(value) >= MANY_TIMES ? `${Number(value).toFixed(0)} times` : `${(100 * Number(value)).toFixed(0)} %`;

/** @param {import('./compare.js').Comparison} line */
function missed({ target, ratio, low, high, bound }) {
  return `${target} is ${percent(ratio)} of the baseline (${percent(low)} to ${percent(high)}), and ${percent(bound)} is the target`;
}

/** @param {{ baseline: number, candidate: number }} trips */
const moreTrips = ({ baseline, candidate }) =>
  `a tunnel takes ${candidate} round trips of the hop to open, answer and close, and the baseline's takes ${baseline}`;

/** @param {RowResult} row */
const boundTold = ({ row, comparison }) => {
  const cpu = comparison.find(({ target }) => target === 'CPU')?.ratio;
  return comparison
    .filter(({ judged }) => judged === 'bound')
    .map(({ target }) =>
      reasonOf(
        'noise',
        `${row}: ${target}: what measures it, or the rate that it is told, bounds the baseline, and the candidate takes ${percent(cpu ?? null)} of its CPU: it may be slower than it looks`,
        `${target} bound`,
      ),
    );
};

/**
 * Where more turns would tell; of a row that did not run they would not.
 * @param {RowResult[]} rows
 * @returns {{ row: string, line: import('./compare.js').Comparison }[]} those that take the most first
 */
const undecidedLines = (rows) =>
  rows
    .filter(({ baseline, candidate }) => isFine(baseline) && (candidate === null || isFine(candidate)))
    .flatMap(({ row, comparison }) =>
      comparison.filter(({ judged }) => judged === 'uncertain').map((line) => ({ row, line })),
    )
    .sort((one, other) => (other.line.to_decide ?? Infinity) - (one.line.to_decide ?? Infinity));

/** Places of the rows that more turns would decide, what takes the fewest first. @param {RowResult[]} rows */
export const undecidedRows = (rows) =>
  [...new Set(undecidedLines(rows).map(({ row }) => row))]
    .reverse()
    .map((name) => rows.findIndex(({ row }) => row === name));

/** @param {{ row: string, line: import('./compare.js').Comparison }} undecided */
function uncertainTold({ row, line: { target, pairs, ratio, low, high, to_decide: turns } }) {
  const found =
    low === null ? '' : ` (${percent(ratio)} of the baseline, ${percent(low)} to ${percent(high)})`;
  const mend =
    turns !== null && turns <= TURNS_MOST
      ? `about ${turns} would: TURNS=${turns}`
      : 'nor would more: it takes a quieter machine';
  return `${row}: ${target}: ${pairs} turns cannot tell${found}; ${mend}`;
}

/** Why a run has nothing to judge; a run passes by what it measured. @param {RowResult[]} rows @param {boolean} compared */
function empty(rows, compared) {
  if (!rows.some(({ baseline }) => ESSENTIAL.some((figure) => baseline.figures[figure])))
    return [reasonOf('empty', 'no row was measured')];
  if (compared && !rows.some(({ comparison }) => comparison.some(({ ratio }) => ratio !== null)))
    return [reasonOf('empty', 'no row was compared')];
  return [];
}

/**
 * A row that did not run, or that missed a target with confidence, is a failure, whatever else the run was. Errors of a
 * row are told by its outcome.
 * @param {Base} base
 * @param {RowResult[]} rows
 * @param {boolean} compared whether there is a candidate
 * @returns {{ verdict: string, reasons: import('../reasons.js').Reason[] }}
 */
export function verdictOf({ verdict, thresholds, validity }, rows, compared) {
  const broken = rows.flatMap(({ row, baseline, candidate }) => [
    ...told(row, 'baseline', baseline),
    ...told(row, 'candidate', candidate),
  ]);
  const misses = rows.flatMap(({ row, comparison, round_trips: trips }) => [
    ...comparison
      .filter(({ judged }) => judged === 'missed')
      .map((line) => reasonOf('target', `${row}: ${missed(line)}`, line.target)),
    ...(trips && !trips.ok ? [reasonOf('target', `${row}: ${moreTrips(trips)}`, 'round trips')] : []),
  ]);
  const crossed = crossedReasons(thresholds);
  const unclear = [
    ...invalidReasons(validity),
    ...empty(rows, compared),
    ...rows.flatMap(boundTold),
    ...undecidedLines(rows).map((undecided) =>
      reasonOf('noise', uncertainTold(undecided), undecided.line.target),
    ),
  ];
  const reasons = [...broken, ...misses, ...crossed, ...unclear];
  if (isInterrupted(validity)) return { verdict: 'inconclusive', reasons };
  const failed = broken.length > 0 || misses.length > 0 || (verdict === 'fail' && crossed.length > 0);
  if (failed) return { verdict: 'fail', reasons };
  return { verdict: reasons.length > 0 ? 'inconclusive' : 'pass', reasons };
}
