/** Compares the turns of two sides. All rows are judged together, with the common comparison engine. */
import { judge } from 'k6/x/windtunnel/difference';
import { spreadOf } from '../spread.js';
import { failsAll, lackIn, pairsOf } from './evidence.js';
import { FIGURES } from './footprint.js';

/**
 * Figures of one turn by name, with units in the names; null: not measured.
 * @typedef {Record<string, number | null>} Turn
 * @typedef {{ throughput: number, latency: number, first_reply: number, round_trips: number, memory: number, tolerance: number }} Targets
 *   of the candidate as a multiple of the baseline; tolerance is the share by which a target may be missed
 * @typedef {'met' | 'missed' | 'uncertain' | 'bound'} Judged bound: the load generator, or a configured rate, may limit the figure
 *
 * @typedef {object} Compared a row with measurements of both sides
 * @property {Turn[]} baseline turns in order; the candidate's turn at the same index was measured beside it
 * @property {Turn[]} candidate
 * @property {boolean} paced whether the protocol sends at a configured rate
 * @property {number} [planned] minimum number of turns of each side
 *
 * @typedef {object} Comparison
 * @property {'throughput' | 'latency' | 'memory' | 'first reply' | 'CPU' | 'turn CPU' | (typeof FOOTPRINT)[number]['target']} target CPU has
 *   no target value
 * @property {string} figure name of the compared figure
 * @property {number | null} bound
 * @property {number | null} ratio candidate divided by baseline, with its interval
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} different whether the ratio differs significantly from 1
 * @property {Judged | null} judged
 * @property {number} pairs number of pairs of turns
 * @property {number} confidence of the interval
 * @property {number | null} to_decide estimated number of turns for a decision; null if it is decided, or if no number suffices
 * @property {string | null} lacks turns without this measurement; null if every turn has it, or needs none
 */

/** Plausible range, Mbit/s: a tunnel moves less than a Tbit/s, and a transfer that ends moves more than a bit/s. */
const RATE = { figure: 'mbit_64k', better: /** @type {const} */ ('higher'), least: 1e-6, most: 1e6 };
/** Plausible range, ms: a nanosecond to an hour. */
const TIME = { better: /** @type {const} */ ('lower'), least: 1e-6, most: 3.6e6 };
/** Plausible range, MiB: a KiB to 16 TiB. */
const MEMORY = { better: /** @type {const} */ ('lower'), least: 2 ** -10, most: 2 ** 24 };
/** Plausible range, seconds per GiB: a microsecond to eleven days. */
const CPU = { figure: 'cpu_s_per_gib', better: /** @type {const} */ ('lower'), least: 1e-6, most: 1e6 };
/** CPU time of a whole turn with its quiet period, seconds. */
const TURN_CPU = { ...CPU, figure: 'turn_cpu_s' };
const TRIP = { figure: 'rtt_ms', ...TIME };
const REPLY = { figure: 'handshake_ms', ...TIME };

/** The figure of each target; `carrier` is the figure of the operations that produce it. */
const JUDGED_BY = /** @type {const} */ ([
  { target: 'throughput', by: 'throughput', of: RATE, carrier: RATE },
  { target: 'latency', by: 'latency', of: TRIP, carrier: TRIP },
  { target: 'memory', by: 'memory', of: { figure: 'peak_anon_mib', ...MEMORY }, carrier: RATE },
  { target: 'first reply', by: 'first_reply', of: REPLY, carrier: REPLY },
]);

/** Plausible range of a count. */
const COUNT = { better: /** @type {const} */ ('lower'), least: 0, most: 1e9 };

/** The footprint of both ends after a turn. Much more is a miss; too few turns leave it undecided only with the targets. */
export const FOOTPRINT = /** @type {const} */ ([
  { target: 'memory after a turn', of: { figure: 'after_anon_mib', ...MEMORY } },
  { target: 'number of descriptors', of: { figure: 'after_descriptors', ...COUNT } },
  { target: 'number of left connections', of: { figure: 'after_left', ...COUNT } },
  { target: 'rate of wake-ups', of: { figure: 'after_wakeups_per_s', ...COUNT } },
]);

/** Figures that are shown but not judged. */
const BESIDE = /** @type {const} */ ([
  { target: 'CPU', of: CPU },
  { target: 'turn CPU', of: TURN_CPU },
]);

/** The judgement of a target by the outcome against its bound. */
const JUDGED = /** @type {const} */ ({ within: 'met', beyond: 'missed', unclear: 'uncertain' });

/**
 * CPUs used by probe and far end (one thread each) above which they may limit a transfer. On two CPUs they share one CPU, and
 * switching between them uses the rest.
 */
export const MEASURING_BOUND = 0.75;

/** @param {Turn[]} turns @returns {Record<string, import('../spread.js').Spread | null>} */
export function figuresOf(turns) {
  const names = [...new Set(turns.flatMap((turn) => Object.keys(turn)))];
  return Object.fromEntries(names.map((name) => [name, spreadOf(turns.map((turn) => turn[name] ?? null))]));
}

/**
 * Compares all targets of all rows in one statistical test. With more targets, a miss needs stronger evidence.
 * @param {Compared[]} rows
 * @param {Targets} targets
 * @param {number[]} looks numbers of turns after which the rows were judged, in a run that goes on until they are decided
 */
export function compareRows(rows, targets, looks) {
  const asked = rows.map((row) => comparedIn(row, targets));
  const metrics = rows.flatMap((row, index) =>
    asked[index].map(({ role, of, bound }) => ({
      scale: /** @type {const} */ ('ratio'),
      bound: targets.tolerance,
      pairs: role === 'secondary' ? flooredPairs(row, of) : pairsOf(row, of),
      better: of.better,
      ...(bound !== null && { target: bound }),
      role,
    })),
  );
  const judgement = judge({ metrics, looks });
  const answers = [...judgement.metrics];
  return {
    looks: judgement.looks.map(({ pairs, confidence }) => ({ turns: pairs, confidence })),
    turnsToMiss: judgement.fewest_to_miss,
    comparisons: rows.map((row, index) =>
      linesOf(row, asked[index], answers.splice(0, asked[index].length), targets),
    ),
  };
}

/**
 * The compared figures of a row, each with its target. The footprint is among them if any turn has it, as not every scenario reads it.
 * @param {Compared} row
 * @param {Targets} targets
 */
const comparedIn = (row, targets) => [
  ...JUDGED_BY.map((one) => ({ ...one, role: /** @type {const} */ ('primary'), bound: targets[one.by] })),
  ...FOOTPRINT.filter(({ of }) =>
    pairsOf(row, of)
      .flat()
      .some((value) => value !== null),
  ).map((one) => ({
    ...one,
    role: /** @type {const} */ ('secondary'),
    bound: one.of.figure === 'after_anon_mib' ? targets.memory : 1,
  })),
  ...BESIDE.map((one) => ({ ...one, role: /** @type {const} */ ('shown'), bound: null })),
];

/** Few of a footprint are harmless, and count alike. @param {Compared} row @param {import('./evidence.js').Figure} of @returns {[number | null, number | null][]} */
const flooredPairs = (row, of) =>
  pairsOf(row, of).map(([a, b]) => {
    const floored = (/** @type {number | null} */ value) =>
      value === null ? null : Math.max(value, FIGURES[/** @type {keyof typeof FIGURES} */ (of.figure)].least);
    return [floored(a), floored(b)];
  });

/**
 * @param {Compared} row
 * @param {ReturnType<typeof comparedIn>} asked
 * @param {import('k6/x/windtunnel/difference').Answer[]} answers
 * @param {Targets} targets
 * @returns {Comparison[]}
 */
function linesOf(row, asked, answers, targets) {
  // The footprint comes from one reading: the first gap stands for all.
  const gap = asked.find(({ role, of }) => role === 'secondary' && lackIn(row, of) !== null);
  const judgedOf = (
    /** @type {typeof asked[number]} */ one,
    /** @type {typeof answers[number]} */ answer,
  ) => {
    if (one.role === 'shown') return { judged: null, lacks: null };
    if (one.role === 'secondary') return footprintAs(answer, one === gap ? lackIn(row, one.of) : null);
    return judgedAs(answer, lackIn(row, one.of), failsAll(row, one.of, one.carrier));
  };
  const all = asked.map((one, index) => ({
    target: one.target,
    figure: one.of.figure,
    bound: one.bound,
    ratio: answers[index].estimate,
    low: answers[index].low,
    high: answers[index].high,
    different: answers[index].significant,
    pairs: answers[index].pairs,
    confidence: answers[index].confidence,
    to_decide: answers[index].to_decide,
    ...judgedOf(one, answers[index]),
  }));
  const lines = all.filter(({ ratio }, index) => ratio !== null || asked[index].role !== 'shown');
  if (!mayBeBound(row)) return lines;
  const beside = lines.filter(({ bound }) => bound === null);
  const lacks = cpuLackIn(row);
  return lines.map((line) => doubted(line, { beside, targets, lacks }));
}

/**
 * A target is met only if all turns of both sides have the figure. Fewer turns suffice to show a miss.
 * @param {import('k6/x/windtunnel/difference').Answer} answer
 * @param {string | null} lacks
 * @param {boolean} fails whether the candidate has no value because its operations failed
 * @returns {Partial<Comparison> & Pick<Comparison, 'judged' | 'lacks'>}
 */
function judgedAs({ outcome, to_decide: toDecide }, lacks, fails) {
  if (lacks === null) return { judged: JUDGED[outcome], to_decide: toDecide, lacks };
  return { judged: fails || outcome === 'beyond' ? 'missed' : 'uncertain', to_decide: null, lacks };
}

/**
 * Only a miss and a gap count: the targets decide whether there are enough turns.
 * @param {import('k6/x/windtunnel/difference').Answer} answer
 * @param {string | null} lacks
 * @returns {Partial<Comparison> & Pick<Comparison, 'judged' | 'lacks'>}
 */
function footprintAs({ outcome }, lacks) {
  const open = lacks === null ? null : 'uncertain';
  return { judged: outcome === 'beyond' ? 'missed' : open, to_decide: null, lacks };
}

/** Whether the load generator may have limited the throughput. If its CPU time was not measured, it may have. @param {Compared} row */
const mayBeBound = ({ baseline, paced }) =>
  paced ||
  baseline.some(({ measuring_cpus: cpus }) => !(Number(cpus) > 0)) ||
  (spreadOf(baseline.map((turn) => turn.measuring_cpus ?? null))?.median ?? 0) >= MEASURING_BOUND;

/** The first CPU figure that a turn lacks, in words; null if every turn has all. @param {Compared} row @returns {string | null} */
function cpuLackIn(row) {
  for (const { target, of } of BESIDE) {
    const lacks = lackIn(row, of);
    if (lacks !== null) return `${target} ${lacks}`;
  }
  return null;
}

/**
 * If the load generator or a configured rate limited the baseline, the baseline is faster than measured. Then a throughput
 * target is not met if the candidate needs so much more CPU, per byte or in the whole turn, that it would miss the target by
 * CPU. The throughput is uncertain if a turn lacks the CPU time.
 * @param {Comparison} line
 * @param {{ beside: Comparison[], targets: Targets, lacks: string | null }} known
 * @returns {Comparison}
 */
function doubted(line, { beside, targets, lacks }) {
  if (line.target !== 'throughput' || line.judged !== 'met') return line;
  if (lacks !== null) return { ...line, judged: 'uncertain', lacks };
  const most = (1 + targets.tolerance) / targets.throughput;
  return beside.some(({ low }) => Number(low) > most) ? { ...line, judged: 'bound' } : line;
}
