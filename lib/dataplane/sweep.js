/** From the runs of a sweep to its table and a recommendation. */
import { leastRankSumP, rankSumP } from './rank-test.js';

/**
 * @typedef {{ mbit_per_s: number, rtt_p95_ms: number | null, rtt_p99_ms: number | null, peak_rss_bytes: number | null, lost_share: number }} SweepRun
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
 * Whether a value is better or worse than the one in use, or the runs cannot tell the two apart: first by what is lost,
 * then by what goes through.
 * @param {string} variable
 * @param {SweepValue} candidate
 * @param {SweepValue} current
 * @param {number} tests how many are made in all: the best of many is the best by chance more often than one of two
 * @returns {{ verdict: 'better' | 'worse' | 'unknown', text: string }}
 */
function comparison(variable, candidate, current, tests) {
  const of = (/** @type {SweepValue} */ entry, /** @type {'lost_share' | 'mbit_per_s'} */ key) =>
    entry.runs.map((run) => run[key]);
  const pOf = (/** @type {'lost_share' | 'mbit_per_s'} */ key) =>
    Math.min(1, tests * rankSumP(of(candidate, key), of(current, key)));
  const [lost, lostNow] = [candidate, current].map((entry) => median(entry, 'lost_share', 1));
  const [rate, rateNow] = [candidate, current].map((entry) => median(entry, 'mbit_per_s', 0));
  const say = (/** @type {string} */ what, /** @type {string} */ change, /** @type {number} */ p) =>
    `${variable} = ${candidate.value} ${what} than ${current.value} (${change}, p = ${p.toPrecision(2)})`;
  const lossP = pOf('lost_share');
  const loss = `${percent(lost)} against ${percent(lostNow)}`;
  if (lost < lostNow && lossP < ALPHA) return { verdict: 'better', text: say('loses less', loss, lossP) };
  if (lost > lostNow && lossP < ALPHA) return { verdict: 'worse', text: say('loses more', loss, lossP) };
  const rateP = pOf('mbit_per_s');
  const change =
    rateNow > 0 ? `${((rate / rateNow - 1) * 100).toFixed(1)} %` : `${rate.toFixed(1)} Mbit/s against none`;
  if (rate > rateNow)
    return { verdict: rateP < ALPHA ? 'better' : 'unknown', text: say('moves more', change, rateP) };
  if (rate < rateNow && rateP < ALPHA) return { verdict: 'worse', text: say('moves less', change, rateP) };
  return { verdict: 'unknown', text: say('moves no more', change, rateP) };
}

/** The runs of each value that can tell a difference at all. @param {number} tests */
function runsNeeded(tests) {
  let runs = 1;
  while (tests * leastRankSumP(runs, runs) >= ALPHA) runs += 1;
  return runs;
}

/**
 * The value to take, or null where the runs do not tell any from the one in use.
 * @param {string} variable
 * @param {SweepValue[]} values
 * @param {Value} inUse
 * @returns {{ recommended: Value | null, reason: string }}
 */
export function recommend(variable, values, inUse) {
  const current = values.find(({ value }) => value === inUse);
  if (!current)
    return { recommended: null, reason: `${variable} = ${inUse}, which is in use, was not measured` };
  const others = ranked(values).filter((entry) => entry !== current);
  const tests = 2 * others.length;
  const runs = current.runs.length;
  const keep = (/** @type {string} */ reason) => ({ recommended: null, reason: `${reason}; keep ${inUse}` });
  if (others.every((entry) => tests * leastRankSumP(entry.runs.length, runs) >= ALPHA))
    return keep(
      `${runs} runs of each of ${values.length} values cannot tell a difference: it takes RUNS=${runsNeeded(tests)}`,
    );
  const found = others.map((entry) => ({ entry, ...comparison(variable, entry, current, tests) }));
  const best = found.find(({ verdict }) => verdict === 'better');
  if (best) return { recommended: best.entry.value, reason: best.text };
  const unknown = found.find(({ verdict }) => verdict === 'unknown');
  return keep(unknown ? `${unknown.text}: with ${runs} runs of each that may be noise` : found[0].text);
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
      rtt_p99_ms: spread(entry, 'rtt_p99_ms'),
      peak_rss_bytes: spread(entry, 'peak_rss_bytes'),
      lost_share: spread(entry, 'lost_share'),
    })),
    ...(measured.length < 2
      ? { recommended: null, reason: 'fewer than two values were measured' }
      : recommend(variable, measured, inUse)),
  };
}
