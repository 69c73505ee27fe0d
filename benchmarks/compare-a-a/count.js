/** Counts the outcomes of many comparisons of two sides whose true difference is known. */
import { median } from '../../lib/spread.js';

/**
 * @typedef {{ verdict: string, pairs: number, seconds: number, primary: { title: string, change: number | null }[] }} Made
 * @typedef {{ comparisons: number, pass: number, fail: number, inconclusive: number, pairs: number, seconds: number, slowest: number, change: number }} Count
 */

/** @param {any} comparison a compare.json @param {number} seconds its duration @returns {Made} */
export function madeOf(comparison, seconds) {
  const primary = comparison.metrics
    .filter((/** @type {any} */ { role }) => role === 'primary')
    .map((/** @type {any} */ { title, change }) => ({ title, change: change?.estimate ?? null }));
  return { verdict: comparison.verdict, pairs: comparison.a.runs.length, seconds, primary };
}

/** Median of the estimated changes of each primary metric, percent. @param {Made[]} all */
function changesOf(all) {
  const estimated = all.flatMap(({ primary }) => primary).filter(({ change }) => change !== null);
  const titles = [...new Set(estimated.map(({ title }) => title))];
  return titles.map((title) => ({
    title,
    change: median(estimated.filter((one) => one.title === title).map(({ change }) => Number(change))),
  }));
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
    changes: changesOf(all),
  };
}

const signed = (/** @type {number} */ change) => `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(1)} %`;

/** @param {string} name @param {Count} counted */
export function row(name, counted) {
  const changes = counted.changes.map(({ title, change }) => `${title} ${signed(change)}`).join(', ');
  const times = `${counted.seconds.toFixed(0)} s | ${counted.slowest.toFixed(0)} s`;
  return `| ${name} | ${changes} | ${counted.comparisons} | ${counted.pass} | ${counted.fail} | ${counted.inconclusive} | ${counted.pairs} | ${times} |`;
}

export const HEAD = `| | estimated | comparisons | pass | fail | inconclusive | pairs | time to the verdict | 95 % within |
|---|---|---:|---:|---:|---:|---:|---:|---:|`;
