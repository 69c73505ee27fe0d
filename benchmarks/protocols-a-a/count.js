/** How often a comparison told two sides apart that are the same program. */

/** Of a row's three targets together: lib/protocols/compare.js. */
export const PROMISED = 0.05;
const CONFIDENCE = 0.95;

/** @typedef {{ target: string, low: number | null, different: boolean, judged: string | null }} Line of a result's comparison */

/**
 * @typedef {object} Count
 * @property {number} runs
 * @property {number} compared rows of all runs of which each target has an interval
 * @property {number} flagged of these, where a target is told to differ
 * @property {number} missed of these, where a target is missed
 * @property {number | null} share of the flagged, null where nothing was compared
 * @property {[number, number] | null} interval of the share, 95 %, as if all rows were independent
 * @property {boolean} refuted whether more than one row in twenty is flagged, with that confidence
 * @property {{ row: string, compared: number, flagged: number, missed: number, targets: Record<string, number> }[]} rows
 *   `targets` are the flagged comparisons of each
 */

/** @param {{ rows: { row: string, comparison: Line[] }[] }[]} runs the section `protocols` of each result @returns {Count} */
export function count(runs) {
  /** @type {Map<string, Count['rows'][number]>} */
  const rows = new Map();
  for (const { row, comparison: lines } of runs.flatMap((run) => run.rows)) {
    const comparison = lines.filter(({ judged }) => judged !== null);
    if (comparison.length === 0 || comparison.some(({ low }) => low === null)) continue;
    const own = rows.get(row) ?? { row, compared: 0, flagged: 0, missed: 0, targets: {} };
    rows.set(row, own);
    const different = comparison.filter((line) => line.different);
    own.compared += 1;
    own.flagged += Number(different.length > 0);
    own.missed += Number(comparison.some(({ judged }) => judged === 'missed'));
    for (const { target } of different) own.targets[target] = (own.targets[target] ?? 0) + 1;
  }
  const all = [...rows.values()];
  const sum = (/** @type {'compared' | 'flagged' | 'missed'} */ name) =>
    all.reduce((total, row) => total + row[name], 0);
  const [compared, flagged] = [sum('compared'), sum('flagged')];
  const interval = compared > 0 ? exactInterval(flagged, compared) : null;
  return {
    runs: runs.length,
    compared,
    flagged,
    missed: sum('missed'),
    share: compared > 0 ? flagged / compared : null,
    interval,
    refuted: interval !== null && interval[0] > PROMISED,
    rows: all,
  };
}

/**
 * Clopper and Pearson's interval of a share.
 * @param {number} successes
 * @param {number} trials
 * @returns {[number, number]}
 */
export function exactInterval(successes, trials) {
  const tail = (1 - CONFIDENCE) / 2;
  const low = successes === 0 ? 0 : root((share) => 1 - atMost(successes - 1, trials, share) - tail);
  const high = successes === trials ? 1 : root((share) => tail - atMost(successes, trials, share));
  return [low, high];
}

/** Where a growing function of 0 to 1 is 0. @param {(share: number) => number} of */
function root(of) {
  let [low, high] = [0, 1];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (of(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Probability of so many successes or fewer. @param {number} successes @param {number} trials @param {number} share */
function atMost(successes, trials, share) {
  let term = trials * Math.log1p(-share);
  let sum = Math.exp(term);
  for (let index = 1; index <= successes; index += 1) {
    term += Math.log((trials - index + 1) / index) + Math.log(share) - Math.log1p(-share);
    sum += Math.exp(term);
  }
  return sum;
}
