/** What many comparisons of two sides of which the truth is known came to. */

/**
 * @typedef {{ verdict: string, pairs: number, seconds: number, primary: { title: string, change: number | null }[] }} Made
 * @typedef {{ comparisons: number, pass: number, fail: number, inconclusive: number, pairs: number, seconds: number, slowest: number }} Count
 */

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/** @param {any} comparison a compare.json @param {number} seconds that it took @returns {Made} */
export function madeOf(comparison, seconds) {
  const primary = comparison.metrics
    .filter((/** @type {any} */ { role }) => role === 'primary')
    .map((/** @type {any} */ { title, change }) => ({ title, change: change?.estimate ?? null }));
  return { verdict: comparison.verdict, pairs: comparison.a.runs.length, seconds, primary };
}

/** Medians of pairs and seconds; `slowest` is the 95th percentile of the seconds. @param {Made[]} all @returns {Count} */
export function count(all) {
  const of = (/** @type {string} */ verdict) => all.filter((made) => made.verdict === verdict).length;
  const seconds = all.map((made) => made.seconds).sort((a, b) => a - b);
  return {
    comparisons: all.length,
    pass: of('pass'),
    fail: of('fail'),
    inconclusive: of('inconclusive'),
    pairs: median(all.map(({ pairs }) => pairs)),
    seconds: median(seconds),
    slowest: seconds[Math.ceil(0.95 * seconds.length) - 1],
  };
}

/** @param {string} name @param {Count} counted */
export const row = (name, counted) =>
  `| ${name} | ${counted.comparisons} | ${counted.pass} | ${counted.fail} | ${counted.inconclusive} | ${counted.pairs} | ${counted.seconds.toFixed(0)} s | ${counted.slowest.toFixed(0)} s |`;

export const HEAD = `| | comparisons | pass | fail | inconclusive | pairs | time to the verdict | 95 % within |
|---|---:|---:|---:|---:|---:|---:|---:|`;
