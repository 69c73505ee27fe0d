/** From the runs of a sweep to its table and a recommendation. */
import { tellApart } from 'k6/x/windtunnel/difference';
import { rangeOf, sectionOf } from '../section.js';
import { mostOf } from '../variables.js';

/**
 * @typedef {{ round: number, mbit_per_s: number, rtt_p95_ms: number | null, rtt_p99_ms: number | null, peak_rss_bytes: number | null, lost_share: number }} SweepRun
 * @typedef {{ median: number, min: number, max: number }} Spread
 * @typedef {string | number | boolean} Value
 * @typedef {{ value: Value, runs: SweepRun[], refused?: string | null }} SweepValue `refused`: why the system does not start with it
 * @typedef {import('k6/x/windtunnel/difference').Side} Side
 */

/** Of each value, at most. */
const RUNS_MOST = mostOf('RUNS');

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
 * What was measured in the same round, the value in use first.
 * @param {SweepValue} current
 * @param {SweepValue} other
 * @param {'lost_share' | 'mbit_per_s'} key
 * @returns {[number | null, number | null][]}
 */
const pairsOf = (current, other, key) =>
  current.runs.map((run) => [run[key], other.runs.find(({ round }) => round === run.round)?.[key] ?? null]);

/**
 * Each other value against the one in use, all judged together: first by what is lost, then by what goes through.
 * @param {SweepValue[]} others
 * @param {SweepValue} current
 */
function compareAll(others, current) {
  const { comparisons, fewest_pairs: fewest } = tellApart({
    comparisons: others.flatMap((other) => [
      { pairs: pairsOf(current, other, 'lost_share'), scale: 'share', better: 'lower' },
      { pairs: pairsOf(current, other, 'mbit_per_s'), scale: 'ratio', better: 'higher' },
    ]),
  });
  const found = others.map((entry, index) => ({
    entry,
    loss: comparisons[2 * index],
    rate: comparisons[2 * index + 1],
  }));
  return { found, fewest };
}

/**
 * Whether a value is better or worse than the one in use, or the runs cannot tell the two apart.
 * @param {string} variable
 * @param {SweepValue} current
 * @param {{ entry: SweepValue, loss: Side, rate: Side }} found
 * @returns {{ entry: SweepValue, verdict: 'better' | 'worse' | 'unknown', text: string, toTell: number }}
 */
function comparison(variable, current, { entry, loss, rate }) {
  const say = (/** @type {string} */ what, /** @type {string} */ change) =>
    `${variable} = ${entry.value} ${what} than ${current.value} (${change})`;
  const toTell = Math.min(loss.to_tell ?? Infinity, rate.to_tell ?? Infinity);
  const told = (/** @type {Side} */ side, /** @type {string} */ text) => ({
    entry,
    verdict: side.better === null ? /** @type {const} */ ('unknown') : VERDICTS[side.better],
    text,
    toTell,
  });
  if (loss.better !== null) {
    const [own, now] = [entry, current].map((one) => percent(median(one, 'lost_share', 1)));
    return told(loss, say(loss.better === 'b' ? 'loses less' : 'loses more', `${own} against ${now}`));
  }
  const less = rate.better === 'a' ? 'moves less' : 'moves no more';
  return told(rate, say(Number(rate.estimate) > 1 ? 'moves more' : less, changeOf(rate, entry, current)));
}

/** By which of the two is better; the value in use is `a`. */
const VERDICTS = /** @type {const} */ ({ a: 'worse', b: 'better' });

/** @param {Side} rate @param {SweepValue} entry @param {SweepValue} current */
function changeOf({ estimate, low, high }, entry, current) {
  if (median(current, 'mbit_per_s', 0) === 0)
    return `${median(entry, 'mbit_per_s', 0).toFixed(1)} Mbit/s against none`;
  const change = (/** @type {number | null} */ ratio) => ((Number(ratio) - 1) * 100).toFixed(1);
  const interval = low === null ? '' : `, ${change(low)} to ${change(high)} %`;
  return `${change(estimate)} %${interval}`;
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
  const runs = current.runs.length;
  const keep = (/** @type {string} */ reason) => ({ recommended: null, reason: `${reason}; keep ${inUse}` });
  const all = compareAll(
    ranked(values).filter((entry) => entry !== current),
    current,
  );
  if (all.found.every(({ rate }) => rate.pairs < all.fewest))
    return keep(
      `${runs} runs of each of ${values.length} values cannot tell a difference: it takes RUNS=${all.fewest}`,
    );
  const found = all.found.map((one) => comparison(variable, current, one));
  const best = found.find(({ verdict }) => verdict === 'better');
  if (best) return { recommended: best.entry.value, reason: best.text };
  const unknown = found.find(({ verdict }) => verdict === 'unknown');
  if (!unknown) return keep(found[0].text);
  const { text, toTell } = unknown;
  const mend =
    toTell <= RUNS_MOST ? `about RUNS=${toTell} would tell` : `nor would ${RUNS_MOST} runs tell it apart`;
  return keep(`${text}: with ${runs} runs of each that may be noise; ${mend}`);
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(2)} %`;

const MIB = 1024 * 1024;

/** @param {string} variable @returns {import('../section.js').Column<SweepValue>[]} */
const columnsOf = (variable) => [
  {
    name: 'value',
    title: variable,
    unit: 'text',
    of: ({ value }) => (typeof value === 'boolean' ? String(value) : value),
  },
  { name: 'runs', title: 'Runs', unit: 'count', of: ({ runs }) => runs.length },
  {
    name: 'mbit_per_s',
    title: 'Throughput',
    unit: 'Mbit/s',
    of: (entry) => rangeOf(spread(entry, 'mbit_per_s')),
  },
  { name: 'rtt_p95_ms', title: 'RTT P95', unit: 'ms', of: (entry) => rangeOf(spread(entry, 'rtt_p95_ms')) },
  { name: 'rtt_p99_ms', title: 'RTT P99', unit: 'ms', of: (entry) => rangeOf(spread(entry, 'rtt_p99_ms')) },
  {
    name: 'peak_rss_mib',
    title: 'Total peak RSS',
    unit: 'MiB',
    of: (entry) => rangeOf(spread(entry, 'peak_rss_bytes'), MIB),
  },
  { name: 'lost_share', title: 'Lost', unit: 'share', of: (entry) => rangeOf(spread(entry, 'lost_share')) },
];

/**
 * The sweep as a table, with its recommendation.
 * @param {string} variable
 * @param {SweepValue[]} values
 * @param {Value} inUse
 */
export function sweepSection(variable, values, inUse) {
  const measured = values.filter(({ runs }) => runs.length > 0);
  const { recommended, reason } =
    measured.length < 2
      ? { recommended: null, reason: 'fewer than two values were measured' }
      : recommend(variable, measured, inUse);
  const none = recommended === null;
  return sectionOf({
    name: 'sweep',
    title: `Sweep of ${variable}`,
    columns: columnsOf(variable),
    rows: values,
    headline: none
      ? { value: 'no best value', of: `of ${variable}`, detail: reason }
      : { value: String(recommended), of: `is the best ${variable}`, detail: reason },
    notes: [
      `Recommendation: ${none ? 'none' : `${variable} = ${recommended}`}: ${reason}`,
      ...values.flatMap(({ value, refused }) =>
        refused ? [`The system refuses ${variable} = ${value}: ${refused}`] : [],
      ),
      'Medians of the runs with each value, the least and the most in brackets; the runs took turns.',
      'Lost are round trips at the probe, wherever on the way a datagram or its answer was dropped.',
    ],
    plot: { kind: 'bars', x: 'value', y: ['mbit_per_s'] },
  });
}
