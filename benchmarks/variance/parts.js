/** Splits the noise of runs into parts: between starts of the system, between runs on one start, and slow drift. */

/** @typedef {{ a: number[], b: number[] }} Starts values above 0 of the same number of runs on each of two starts, in turn */

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** @param {number[]} values */
function variance(values) {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
}

/**
 * Standard deviations of the logarithm, which are shares: 0.1 is 10 %. `run` compares a run with the next run on the other start,
 * so it excludes drift. `start` is the difference between starts beyond that, or 0 if the runs explain it. `all` is over all runs,
 * including drift and starts.
 * @param {Starts[]} pairs at least two, of at least two runs on each start
 */
export function partsOf(pairs) {
  const differences = pairs.map(({ a, b }) => a.map((value, run) => Math.log(value) - Math.log(b[run])));
  const run = mean(differences.map(variance)) / 2;
  const start = mean(differences.map((values) => mean(values) ** 2)) / 2 - run / pairs[0].a.length;
  return {
    run: Math.sqrt(run),
    start: Math.sqrt(Math.max(0, start)),
    all: Math.sqrt(variance(pairs.flatMap(({ a, b }) => [...a, ...b]).map(Math.log))),
  };
}

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

export const HEAD = `| TIMES | metric | a run lasts | of that measured | a run | a start | all, with drift |
|---:|---|---:|---:|---:|---:|---:|`;

/**
 * A row of the table.
 * @param {number} times @param {string} metric @param {ReturnType<typeof partsOf>} parts
 * @param {{ measured: number, whole: number }} seconds duration of a run: of its measurement, and in total
 */
export const row = (times, metric, { run, start, all }, { measured, whole }) =>
  `| ${times} | ${metric} | ${whole.toFixed(2)} s | ${percent(measured / whole)} | ${percent(run)} | ${percent(start)} | ${percent(all)} |`;
