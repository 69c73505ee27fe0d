/** Where the noise of runs comes from: how much is between starts of the system, and how much between runs on one start. */

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean of squares, as a deviation. @param {number[]} deviations */
const rootMeanSquare = (deviations) => Math.sqrt(mean(deviations.map((value) => value * value)));

/** @param {number[]} values */
function variance(values) {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
}

/**
 * Deviations of the logarithm, which are shares: 0.1 is 10 %. `successive` is that of two runs that follow each other on one
 * start, so that slow drift is not in it; `within` is of all runs on one start; `between` is what starts differ by beyond that,
 * 0 where they differ less than their runs explain (one-way analysis of variance, random effects).
 * @param {number[][]} starts values of the runs on each start, above 0; at least two starts of as many runs, at least two
 */
export function partsOf(starts) {
  const logs = starts.map((runs) => runs.map(Math.log));
  const within = mean(logs.map(variance));
  const steps = logs.flatMap((runs) => runs.slice(1).map((value, index) => value - runs[index]));
  const between = variance(logs.map(mean)) - within / logs[0].length;
  return {
    successive: rootMeanSquare(steps) / Math.SQRT2,
    within: Math.sqrt(within),
    between: Math.sqrt(Math.max(0, between)),
  };
}

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

export const HEAD = `| TIMES | metric | measured in a run | of the run | successive runs | runs on one start | between starts |
|---:|---|---:|---:|---:|---:|---:|`;

/**
 * A row of the table.
 * @param {number} times @param {string} metric @param {ReturnType<typeof partsOf>} parts
 * @param {{ measured: number, whole: number }} seconds of a run
 */
export const row = (times, metric, { successive, within, between }, { measured, whole }) =>
  `| ${times} | ${metric} | ${measured.toFixed(2)} s | ${percent(measured / whole)} | ${percent(successive)} | ${percent(within)} | ${percent(between)} |`;
