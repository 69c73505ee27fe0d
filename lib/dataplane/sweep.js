/** From the runs of a sweep to its table and a recommendation. */
import { rankSumP } from './rank-test.js';

/**
 * @typedef {{ mbit_per_s: number, rtt_p95_ms: number | null, peak_rss_bytes: number | null, lost_share: number }} SweepRun
 * @typedef {{ median: number, min: number, max: number }} Spread
 * @typedef {string | number | boolean} Value
 * @typedef {{ value: Value, runs: SweepRun[] }} SweepValue
 */

const ALPHA = 0.05;

/** @param {(number | null)[]} values @returns {Spread | null} */
export function spreadOf(values) {
  const sorted = /** @type {number[]} */ (values.filter((value) => value !== null)).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  return { median, min: sorted[0], max: sorted[sorted.length - 1] };
}

/** @param {SweepValue} entry @param {keyof SweepRun} key */
const spread = (entry, key) => spreadOf(entry.runs.map((run) => run[key]));

/** @param {SweepValue} entry @param {keyof SweepRun} key @param {number} missing */
const median = (entry, key, missing) => spread(entry, key)?.median ?? missing;

/** Loss first, then throughput, then the 95th percentile, as the reference document ranks. @param {SweepValue[]} values */
function ranked(values) {
  return [...values].sort(
    (a, b) =>
      median(a, 'lost_share', 1) - median(b, 'lost_share', 1) ||
      median(b, 'mbit_per_s', 0) - median(a, 'mbit_per_s', 0) ||
      median(a, 'rtt_p95_ms', Infinity) - median(b, 'rtt_p95_ms', Infinity),
  );
}

/**
 * The value to take, or null where the runs do not tell it from the one in use.
 * @param {string} variable
 * @param {SweepValue[]} values
 * @param {Value} inUse
 * @returns {{ recommended: Value | null, reason: string }}
 */
export function recommend(variable, values, inUse) {
  const [best] = ranked(values);
  const current = values.find(({ value }) => value === inUse) ?? values[0];
  if (best === current)
    return { recommended: null, reason: `${variable} = ${current.value} is in use, and no other did better` };
  const byLoss = median(best, 'lost_share', 1) !== median(current, 'lost_share', 1);
  const key = byLoss ? 'lost_share' : 'mbit_per_s';
  // The best of many is the best by chance more often than one of two.
  const p = Math.min(
    1,
    (values.length - 1) *
      rankSumP(
        best.runs.map((run) => run[key]),
        current.runs.map((run) => run[key]),
      ),
  );
  const what = byLoss ? 'loses less' : 'moves more';
  const change = byLoss
    ? `${percent(median(best, key, 1))} against ${percent(median(current, key, 1))}`
    : `${((median(best, key, 0) / median(current, key, 1) - 1) * 100).toFixed(1)} %`;
  const found = `${variable} = ${best.value} ${what} than ${current.value} (${change}, p = ${p.toPrecision(2)})`;
  if (p < ALPHA) return { recommended: best.value, reason: found };
  return {
    recommended: null,
    reason: `${found}: with ${best.runs.length} runs of each that is noise; keep ${current.value}`,
  };
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(2)} %`;

/**
 * The sweep of a result.
 * @param {string} variable
 * @param {SweepValue[]} values
 * @param {Value} inUse
 */
export function sweepOf(variable, values, inUse) {
  const measured = values.filter(({ runs }) => runs.length > 0);
  return {
    variable,
    values: values.map((entry) => ({
      value: entry.value,
      runs: entry.runs.length,
      mbit_per_s: spread(entry, 'mbit_per_s'),
      rtt_p95_ms: spread(entry, 'rtt_p95_ms'),
      peak_rss_bytes: spread(entry, 'peak_rss_bytes'),
      lost_share: spread(entry, 'lost_share'),
    })),
    ...(measured.length < 2
      ? { recommended: null, reason: 'fewer than two values were measured' }
      : recommend(variable, measured, inUse)),
  };
}
