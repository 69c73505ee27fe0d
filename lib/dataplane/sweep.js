/** Turns the runs of a sweep into a table and a recommendation. */
import { tellApart } from 'k6/x/windtunnel/difference';
import { rangeOf, sectionOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { mostOf } from '../variables.js';

/**
 * @typedef {{ round: number, mbit_per_s: number, rtt_p95_ms: number | null, rtt_p99_ms: number | null, peak_rss_bytes: number | null, lost_share: number }} SweepRun
 * @typedef {string | number | boolean} Value
 * @typedef {{ value: Value, runs: SweepRun[], refused?: string | null }} SweepValue `refused`: why the system does not start with the value
 * @typedef {import('k6/x/windtunnel/difference').Side} Side
 */

/** The largest number of runs of each value. */
const RUNS_MOST = mostOf('RUNS');

/** @param {SweepValue} entry @param {keyof SweepRun} key */
const spread = (entry, key) => spreadOf(entry.runs.map((run) => run[key]));

/** @param {SweepValue} entry @param {keyof SweepRun} key @param {number} missing */
const median = (entry, key, missing) => spread(entry, key)?.median ?? missing;

/** Ranks by loss, then throughput, then the 95th percentile, as the reference document does. @param {SweepValue[]} values */
function ranked(values) {
  return [...values].sort(
    (a, b) =>
      median(a, 'lost_share', 1) - median(b, 'lost_share', 1) ||
      median(b, 'mbit_per_s', 0) - median(a, 'mbit_per_s', 0) ||
      median(a, 'rtt_p95_ms', Infinity) - median(b, 'rtt_p95_ms', Infinity),
  );
}

/** A testbed moves less than this, Mbit/s. */
const MBIT_MOST = 1e6;

/**
 * Whether a run's figures are plausible: throughput is 0 if and only if everything was lost.
 * @param {SweepRun} run
 */
const isMeasured = ({ mbit_per_s: rate, lost_share: lost }) =>
  [rate, lost].every((value) => Number.isFinite(value) && value >= 0) &&
  rate <= MBIT_MOST &&
  lost <= 1 &&
  (rate === 0) === (lost === 1);

/** The run of a round, if the value has exactly one measured run. @param {SweepValue} entry @param {number} round */
function runOf({ runs }, round) {
  const runsOfRound = runs.filter((run) => run.round === round);
  return runsOfRound.length === 1 && isMeasured(runsOfRound[0]) ? runsOfRound[0] : undefined;
}

/** All rounds of a sweep, including planned ones without a run. @param {SweepValue[]} values @param {number} planned */
function roundsOf(values, planned) {
  const all = values.flatMap(({ runs }) => runs.map(({ round }) => round));
  return [...new Set([...Array(planned).keys(), ...all])].sort((a, b) => a - b);
}

/** The number of rounds in which a value was measured. @param {SweepValue} entry @param {number[]} rounds */
const measuredIn = (entry, rounds) => rounds.filter((round) => runOf(entry, round)).length;

/**
 * The figures of two values by round, the value in use first.
 * @param {SweepValue} current
 * @param {SweepValue} other
 * @param {'lost_share' | 'mbit_per_s'} key
 * @param {number[]} rounds
 * @returns {[number | null, number | null][]}
 */
const pairsOf = (current, other, key, rounds) =>
  rounds.map((round) => [runOf(current, round)?.[key] ?? null, runOf(other, round)?.[key] ?? null]);

/**
 * Compares each other value with the value in use, all in one statistical test: first by loss, then by throughput. A value
 * that lacks a round counts as a comparison, but gets no verdict.
 * @param {SweepValue[]} others
 * @param {SweepValue} current
 * @param {number[]} rounds
 */
function compareAll(others, current, rounds) {
  const { comparisons, fewest_pairs: fewest } = tellApart({
    comparisons: others.flatMap((other) => [
      { pairs: pairsOf(current, other, 'lost_share', rounds), scale: 'share', better: 'lower' },
      { pairs: pairsOf(current, other, 'mbit_per_s', rounds), scale: 'ratio', better: 'higher' },
    ]),
  });
  const found = others.map((entry, index) => ({
    entry,
    loss: comparisons[2 * index],
    rate: comparisons[2 * index + 1],
  }));
  return { found: found.filter(({ entry }) => measuredIn(entry, rounds) === rounds.length), fewest };
}

/**
 * Whether a value is better or worse than the value in use, or the runs cannot show a difference.
 * @param {string} variable
 * @param {SweepValue} current
 * @param {{ entry: SweepValue, loss: Side, rate: Side }} found
 * @returns {{ entry: SweepValue, verdict: 'better' | 'worse' | 'unknown', text: string, toTell: number }}
 */
function comparison(variable, current, { entry, loss, rate }) {
  const sentence = (/** @type {string} */ what, /** @type {string} */ change) =>
    `${variable} = ${entry.value} ${what} than ${current.value} (${change})`;
  const toTell = Math.min(loss.to_tell ?? Infinity, rate.to_tell ?? Infinity);
  const verdictOf = (/** @type {Side} */ side, /** @type {string} */ text) => ({
    entry,
    verdict: side.better === null ? /** @type {const} */ ('unknown') : VERDICTS[side.better],
    text,
    toTell,
  });
  if (loss.better !== null) {
    const [lost, now] = [entry, current].map((one) => percent(median(one, 'lost_share', 1)));
    return verdictOf(
      loss,
      sentence(loss.better === 'b' ? 'loses less' : 'loses more', `${lost} against ${now}`),
    );
  }
  const less = rate.better === 'a' ? 'moves less' : 'moves no more';
  return verdictOf(
    rate,
    sentence(Number(rate.estimate) > 1 ? 'moves more' : less, changeOf(rate, entry, current)),
  );
}

/** Verdict by the better side; the value in use is `a`. */
const VERDICTS = /** @type {const} */ ({ a: 'worse', b: 'better' });

/** @param {Side} rate @param {SweepValue} entry @param {SweepValue} current */
function changeOf({ estimate, low, high }, entry, current) {
  if (median(current, 'mbit_per_s', 0) === 0)
    return `${median(entry, 'mbit_per_s', 0).toFixed(1)} Mbit/s against none`;
  const change = (/** @type {number | null} */ ratio) => ((Number(ratio) - 1) * 100).toFixed(1);
  const interval = low === null ? '' : `, ${change(low)} to ${change(high)} %`;
  return `${change(estimate)} %${interval}`;
}

/** @param {number} runs of each value @param {number} values @param {number} fewest runs that can show a difference */
const tooFew = (runs, values, fewest) =>
  `${runs} ${runs === 1 ? 'run' : 'runs'} of each of ${values} values cannot tell a difference: it takes RUNS=${fewest}`;

/**
 * The recommended value, or null if no value is shown to be better than the one in use. A value that lacks a round is
 * neither better nor equal; the reason names it.
 * @param {string} variable
 * @param {SweepValue[]} values
 * @param {Value} inUse
 * @param {number} [planned] rounds of each value
 * @returns {{ recommended: Value | null, reason: string }}
 */
export function recommend(variable, values, inUse, planned = 0) {
  const current = values.find(({ value }) => value === inUse);
  if (!current || current.runs.length === 0)
    return { recommended: null, reason: `${variable} = ${inUse}, which is in use, was not measured` };
  const keep = (/** @type {string} */ reason) => ({ recommended: null, reason: `${reason}; keep ${inUse}` });
  const rounds = roundsOf(values, planned);
  const runs = rounds.length;
  const partOf = (/** @type {SweepValue} */ entry) =>
    `${variable} = ${entry.value} was measured in ${measuredIn(entry, rounds)} of ${runs} rounds`;
  if (measuredIn(current, rounds) < runs)
    return keep(`${partOf(current)}, and it is in use: without it no other value can be judged`);
  const others = ranked(values).filter((entry) => entry !== current);
  const incomplete = others.filter((entry) => measuredIn(entry, rounds) < runs).map(partOf);
  const known = (/** @type {string} */ reason) =>
    incomplete.length > 0 ? `${reason}; ${incomplete.join(', ')}: no conclusion is possible` : reason;
  const all = compareAll(others, current, rounds);
  if (runs < all.fewest) return keep(known(tooFew(runs, values.length, all.fewest)));
  const found = all.found.map((one) => comparison(variable, current, one));
  const best = found.find(({ verdict }) => verdict === 'better');
  if (best) return { recommended: best.entry.value, reason: known(best.text) };
  const unknown = found.find(({ verdict }) => verdict === 'unknown') ?? null;
  if (unknown === null) return keep(known(found[0]?.text ?? 'no other value was measured in each round'));
  const { text, toTell } = unknown;
  const mend =
    toTell <= RUNS_MOST
      ? `about RUNS=${toTell} would decide`
      : `even ${RUNS_MOST} runs would not distinguish them`;
  return keep(known(`${text}: with ${runs} runs of each that may be noise; ${mend}`));
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(2)} %`;

const MIB = 1024 * 1024;

/** @param {string} variable @returns {import('../section.js').Column<SweepValue>[]} */
const columnsOf = (variable) => [
  ['value', variable, 'text', ({ value }) => (typeof value === 'boolean' ? String(value) : value)],
  ['runs', 'Runs', 'count', ({ runs }) => runs.length],
  ['mbit_per_s', 'Throughput', 'Mbit/s', (entry) => rangeOf(spread(entry, 'mbit_per_s'))],
  ['rtt_p95_ms', 'RTT P95', 'ms', (entry) => rangeOf(spread(entry, 'rtt_p95_ms'))],
  ['rtt_p99_ms', 'RTT P99', 'ms', (entry) => rangeOf(spread(entry, 'rtt_p99_ms'))],
  ['peak_rss_mib', 'Total peak RSS', 'MiB', (entry) => rangeOf(spread(entry, 'peak_rss_bytes'), MIB)],
  ['lost_share', 'Lost', 'share', (entry) => rangeOf(spread(entry, 'lost_share'))],
];

/**
 * The sweep as a table, with its recommendation.
 * @param {string} variable
 * @param {SweepValue[]} values
 * @param {Value} inUse
 * @param {number} [planned] rounds of each value
 */
export function sweepSection(variable, values, inUse, planned) {
  const measured = values.filter(({ runs, refused = null }) => runs.length > 0 || refused === null);
  const { recommended, reason } =
    measured.length < 2
      ? { recommended: null, reason: 'fewer than two values were measured' }
      : recommend(variable, measured, inUse, planned);
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
