/** Which errors of a row are excused: those that the matrix knows of, as `known`. */

/**
 * @typedef {import('./matrix.js').Row} Row
 * @typedef {import('./sides.js').Side} Side
 * @typedef {import('./verdict.js').SideResult} SideResult
 */

/** A known fault excuses this share of a turn's operations, and no figure that is judged. */
const MOST = 0.1;
/** Figures without which a row tells nothing. */
export const ESSENTIAL = ['rtt_ms', 'mbit_64k'];
/** Of the baseline's open tunnels a candidate must open this share; a few of a thousand break now and then. */
const OPEN_LEAST = 0.9;

/** @param {SideResult} side */
const hasFew = ({ outcome, figures }) =>
  outcome === 'errors' &&
  (figures.failed_share?.max ?? 1) <= MOST &&
  ESSENTIAL.every((figure) => figures[figure]);

/**
 * What our own build of a side's engine is known to get wrong now and then; of another program nothing is.
 * @param {Pick<Row, 'known'>} row
 * @param {Pick<Side, 'engine' | 'binary'>} side
 */
export const knownOf = ({ known }, { engine, binary }) => (binary === '' ? (known?.[engine] ?? null) : null);

/**
 * @param {Pick<Row, 'known'>} row
 * @param {Pick<Side, 'engine' | 'binary'>} side
 * @param {SideResult} result
 * @returns {SideResult}
 */
export const excused = (row, side, result) =>
  hasFew(result) ? { ...result, known: knownOf(row, side) } : result;

/**
 * Another build of the baseline's engine may have its fault, where the baseline shows it beside it in the same row. A
 * candidate that opens clearly fewer tunnels than the baseline did has errors.
 * @param {Pick<Row, 'known'>} row
 * @param {{ baseline: Pick<Side, 'engine' | 'binary'>, candidate: Pick<Side, 'engine' | 'binary'> }} sides
 * @param {SideResult} baseline
 * @param {SideResult} result the candidate's
 * @returns {SideResult}
 */
export function besideBaseline(row, sides, baseline, result) {
  const alike = sides.candidate.engine === sides.baseline.engine;
  if (alike && baseline.known && hasFew(result)) return { ...result, known: baseline.known };
  const own = excused(row, sides.candidate, result);
  if (own.outcome !== 'measured' || row.known?.[sides.candidate.engine]) return own;
  const fewer = Object.entries(baseline.figures).some(
    ([name, open]) =>
      /^tunnels_\d+_open$/.test(name) && open && (own.figures[name]?.median ?? 0) < open.median * OPEN_LEAST,
  );
  if (!fewer) return own;
  return {
    ...own,
    outcome: 'errors',
    detail: ['it opened fewer tunnels than the baseline', own.detail].filter(Boolean).join(': '),
  };
}
