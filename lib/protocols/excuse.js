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
 * Whether a candidate that fails as rarely as the baseline would show so many failures more than it in less than one run
 * of a hundred: of all failures of the two, each is on either side by chance.
 * @param {number} baseline failed operations
 * @param {number} candidate
 */
export function failsMore(baseline, candidate) {
  const all = baseline + candidate;
  // Of the binomial distribution with one half, in logarithms: powers of two end at 1,024.
  let log = -all * Math.LN2;
  let tail = 0;
  for (let count = all; count >= candidate; count -= 1) {
    tail += Math.exp(log);
    log += Math.log(count / (all - count + 1));
  }
  return tail < 0.01;
}

/**
 * Another build of the baseline's engine may have the fault that the baseline is known for, where it does not show it
 * clearly more often. A candidate that opens clearly fewer tunnels than the baseline did has errors.
 * @param {Pick<Row, 'known'>} row
 * @param {{ baseline: Pick<Side, 'engine' | 'binary'>, candidate: Pick<Side, 'engine' | 'binary'> }} sides
 * @param {SideResult} baseline
 * @param {SideResult} result the candidate's
 * @param {{ baseline: number, candidate: number }} failed operations of all turns
 * @returns {SideResult}
 */
export function besideBaseline(row, sides, baseline, result, failed) {
  const alike = sides.candidate.engine === sides.baseline.engine;
  const known = alike && hasFew(result) && knownOf(row, sides.baseline);
  if (known && !failsMore(failed.baseline, failed.candidate)) return { ...result, known };
  if (known)
    return {
      ...result,
      detail: `${result.detail}, more often than the baseline (${failed.candidate} against ${failed.baseline})`,
    };
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
