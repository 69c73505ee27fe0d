/** From the runs of a sweep to its table and a recommendation. */
import { rankSumP } from './rank-test.js';

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
 * What parts a value from the one in use, where the runs tell the two apart: first what is lost, then what goes through.
 * @param {string} variable
 * @param {SweepValue} candidate
 * @param {SweepValue} current
 * @param {number} tests how many are made in all: the best of many is the best by chance more often than one of two
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
  if (lost < lostNow && lossP < ALPHA) return { better: true, text: say('loses less', loss, lossP) };
  if (lost > lostNow && lossP < ALPHA) return { better: false, text: say('loses more', loss, lossP) };
  const rateP = pOf('mbit_per_s');
  const change =
    rateNow > 0 ? `${((rate / rateNow - 1) * 100).toFixed(1)} %` : `${rate.toFixed(1)} Mbit/s against none`;
  const more = rate > rateNow;
  return { better: more && rateP < ALPHA, text: say(`moves ${more ? 'more' : 'no more'}`, change, rateP) };
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
  const found = others.map((entry) => ({ entry, ...comparison(variable, entry, current, tests) }));
  const best = found.find(({ better }) => better);
  if (best) return { recommended: best.entry.value, reason: best.text };
  return {
    recommended: null,
    reason: `${found[0].text}: with ${current.runs.length} runs of each that is noise; keep ${current.value}`,
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
      rtt_p99_ms: spread(entry, 'rtt_p99_ms'),
      peak_rss_bytes: spread(entry, 'peak_rss_bytes'),
      lost_share: spread(entry, 'lost_share'),
    })),
    ...(measured.length < 2
      ? { recommended: null, reason: 'fewer than two values were measured' }
      : recommend(variable, measured, inUse)),
  };
}
