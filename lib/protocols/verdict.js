/** What the rows of a run say together. */

/**
 * @typedef {import('./outcome.js').Outcome} Outcome
 * @typedef {object} RowResult
 * @property {string} row
 * @property {string | null} known what a side is known to break now and then
 * @property {Outcome} baseline
 * @property {Outcome | null} candidate null where there is none, or where its engine lacks the row
 * @property {import('./compare.js').Comparison[]} comparison
 */

/** @param {Outcome} outcome @param {boolean} known */
const isFine = ({ outcome }, known) =>
  outcome === 'measured' || outcome === 'impossible here' || (known && outcome === 'errors');

/** @param {string} row @param {string} side @param {Outcome} outcome */
const told = (row, side, { outcome, detail }) => `${row}: ${side}: ${outcome}${detail ? `: ${detail}` : ''}`;

/** @param {import('./compare.js').Comparison} line */
function missed({ target, ratio, low, high, bound }) {
  const percent = (/** @type {number | null} */ value) => `${(100 * Number(value)).toFixed(0)} %`;
  return `${target} is ${percent(ratio)} of the baseline (${percent(low)} to ${percent(high)}), and ${percent(bound)} is the target`;
}

/**
 * A row that did not run, or that missed a target with confidence, is a failure, whatever else the run was.
 * @param {{ verdict: string, reasons: string[] }} base of the thresholds and of whether the numbers can be believed
 * @param {RowResult[]} rows
 * @param {boolean} interrupted
 * @returns {{ verdict: string, reasons: string[] }}
 */
export function verdictOf(base, rows, interrupted) {
  const broken = rows.flatMap(({ row, known, baseline, candidate }) => [
    ...(isFine(baseline, known !== null) ? [] : [told(row, 'baseline', baseline)]),
    ...(candidate === null || isFine(candidate, known !== null) ? [] : [told(row, 'candidate', candidate)]),
  ]);
  const misses = rows.flatMap(({ row, comparison }) =>
    comparison.filter(({ judged }) => judged === 'missed').map((line) => `${row}: ${missed(line)}`),
  );
  const unclear = rows.flatMap(({ row, comparison }) =>
    comparison
      .filter(({ judged }) => judged === 'uncertain')
      .map(({ target }) => `${row}: ${target}: the turns differ too much to tell`),
  );
  // Errors of a row are told by its outcome, and a known one is no failure.
  const others = base.reasons.filter((reason) => !/ in \d+ requests: /.test(reason));
  const reasons = [...broken, ...misses, ...others, ...unclear];
  if (interrupted) return { verdict: 'inconclusive', reasons };
  if (broken.length > 0 || misses.length > 0) return { verdict: 'fail', reasons };
  if (others.length > 0 || unclear.length > 0) return { verdict: 'inconclusive', reasons };
  return { verdict: 'pass', reasons: [] };
}
