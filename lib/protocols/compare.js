/** From the turns of two sides to what parts them: all rows are judged together, by the one engine of comparisons. */
import { judge } from 'k6/x/windtunnel/difference';
import { spreadOf } from '../dataplane/sweep.js';
import { failsAll, lackIn, pairsOf } from './evidence.js';

/**
 * Figures of one turn by name, units in the names; null where it could not be measured.
 * @typedef {Record<string, number | null>} Turn
 * @typedef {{ throughput: number, latency: number, first_reply: number, round_trips: number, memory: number, tolerance: number }} Targets
 *   of the candidate as a multiple of the baseline; tolerance is the share of a target by which it may be missed
 * @typedef {'met' | 'missed' | 'uncertain' | 'bound'} Judged bound: what measures it, or a rate that it is told, may bound it
 *
 * @typedef {object} Compared a row of which both sides were measured
 * @property {Turn[]} baseline turns in their order; the candidate's at the same place was measured beside it
 * @property {Turn[]} candidate
 * @property {boolean} paced whether the protocol is told the rate that it sends at
 * @property {number} [planned] turns that each side was to have at least
 *
 * @typedef {object} Comparison
 * @property {'throughput' | 'latency' | 'memory' | 'first reply' | 'CPU' | 'turn CPU'} target CPU has none
 * @property {string} figure that it is judged by
 * @property {number | null} bound
 * @property {number | null} ratio candidate by baseline, with its interval
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} different whether it is no chance that the ratio is not 1
 * @property {Judged | null} judged
 * @property {number} pairs of turns that this is of
 * @property {number} confidence of the interval
 * @property {number | null} to_decide about how many turns would; null where it is decided, and where no number would
 * @property {string | null} lacks which turns have no measurement of it; null where all have one, and where none is needed
 */

/** A tunnel moves less than a Tbit/s, and a transfer that ends moves more than a bit/s. */
const RATE = { figure: 'mbit_64k', better: /** @type {const} */ ('higher'), least: 1e-6, most: 1e6 };
/** A nanosecond to an hour, in ms. */
const TIME = { better: /** @type {const} */ ('lower'), least: 1e-6, most: 3.6e6 };
/** A KiB to 16 TiB, in MiB. */
const MEMORY = { better: /** @type {const} */ ('lower'), least: 2 ** -10, most: 2 ** 24 };
/** A microsecond to eleven days, in seconds for each GiB. */
const CPU = { figure: 'cpu_s_per_gib', better: /** @type {const} */ ('lower'), least: 1e-6, most: 1e6 };
/** The same of a whole turn with its quiet period, in seconds. */
const TURN_CPU = { ...CPU, figure: 'turn_cpu_s' };
const TRIP = { figure: 'rtt_ms', ...TIME };
const REPLY = { figure: 'handshake_ms', ...TIME };

/** The figure of each target; `carrier` is the figure of the operations that measure it. */
const JUDGED_BY = /** @type {const} */ ([
  { target: 'throughput', by: 'throughput', of: RATE, carrier: RATE },
  { target: 'latency', by: 'latency', of: TRIP, carrier: TRIP },
  { target: 'memory', by: 'memory', of: { figure: 'peak_anon_mib', ...MEMORY }, carrier: RATE },
  { target: 'first reply', by: 'first_reply', of: REPLY, carrier: REPLY },
]);

/** Told beside them, and not judged. */
const BESIDE = /** @type {const} */ ([
  { target: 'CPU', of: CPU },
  { target: 'turn CPU', of: TURN_CPU },
]);

/** How a target is called that lies so against its bound. */
const JUDGED = /** @type {const} */ ({ within: 'met', beyond: 'missed', unclear: 'uncertain' });

/**
 * CPUs from which on probe and far end, a thread each, may be what bounds a transfer. On two CPUs they share one: what is
 * left of it then goes to switching between them.
 */
export const MEASURING_BOUND = 0.75;

/** @param {Turn[]} turns @returns {Record<string, import('../dataplane/sweep.js').Spread | null>} */
export function figuresOf(turns) {
  const names = [...new Set(turns.flatMap((turn) => Object.keys(turn)))];
  return Object.fromEntries(names.map((name) => [name, spreadOf(turns.map((turn) => turn[name] ?? null))]));
}

/**
 * All targets of all rows, in one judgement: the more there are, the more it takes to miss one.
 * @param {Compared[]} rows
 * @param {Targets} targets
 * @param {number[]} looks numbers of turns at which the rows were looked at, where they go on until they are decided
 */
export function compareRows(rows, targets, looks) {
  const shape = { scale: /** @type {const} */ ('ratio'), bound: targets.tolerance };
  const metrics = rows.flatMap((row) => [
    ...JUDGED_BY.map(({ by, of }) => ({
      ...shape,
      pairs: pairsOf(row, of),
      better: of.better,
      target: targets[by],
      role: /** @type {const} */ ('primary'),
    })),
    ...BESIDE.map(({ of }) => ({
      ...shape,
      pairs: pairsOf(row, of),
      better: of.better,
      role: /** @type {const} */ ('shown'),
    })),
  ]);
  const told = judge({ metrics, looks });
  const each = JUDGED_BY.length + BESIDE.length;
  return {
    looks: told.looks.map(({ pairs, confidence }) => ({ turns: pairs, confidence })),
    turnsToMiss: told.fewest_to_miss,
    comparisons: rows.map((row, index) =>
      linesOf(row, told.metrics.slice(index * each, (index + 1) * each), targets),
    ),
  };
}

/**
 * @param {Compared} row
 * @param {import('k6/x/windtunnel/difference').Answer[]} answers
 * @param {Targets} targets
 * @returns {Comparison[]}
 */
function linesOf(row, answers, targets) {
  const lineOf = (/** @type {import('k6/x/windtunnel/difference').Answer} */ answer) => ({
    ratio: answer.estimate,
    low: answer.low,
    high: answer.high,
    different: answer.significant,
    pairs: answer.pairs,
    confidence: answer.confidence,
    to_decide: answer.to_decide,
  });
  const judged = JUDGED_BY.map(({ target, by, of, carrier }, index) => ({
    target,
    figure: of.figure,
    bound: targets[by],
    ...lineOf(answers[index]),
    ...judgedAs(answers[index], lackIn(row, of), failsAll(row, of, carrier)),
  }));
  const beside = BESIDE.map(({ target, of }, index) => ({
    target,
    figure: of.figure,
    bound: null,
    ...lineOf(answers[JUDGED_BY.length + index]),
    judged: null,
    lacks: null,
  })).filter(({ ratio }) => ratio !== null);
  if (!mayBeBound(row)) return [...judged, ...beside];
  const lacks = cpuLackIn(row);
  return [...judged, ...beside].map((line) => doubted(line, { beside, targets, lacks }));
}

/**
 * A target is met by all turns of both sides. Fewer turns can show that the candidate misses it.
 * @param {import('k6/x/windtunnel/difference').Answer} answer
 * @param {string | null} lacks
 * @param {boolean} fails whether the candidate has none, since its operations failed
 * @returns {Partial<Comparison> & Pick<Comparison, 'judged' | 'lacks'>}
 */
function judgedAs({ outcome, to_decide: toDecide }, lacks, fails) {
  if (lacks === null) return { judged: JUDGED[outcome], to_decide: toDecide, lacks };
  return { judged: fails || outcome === 'beyond' ? 'missed' : 'uncertain', to_decide: null, lacks };
}

/** The meter may be the bound where nobody measured its CPU. @param {Compared} row */
const mayBeBound = ({ baseline, paced }) =>
  paced ||
  baseline.some(({ measuring_cpus: cpus }) => !(Number(cpus) > 0)) ||
  (spreadOf(baseline.map((turn) => turn.measuring_cpus ?? null))?.median ?? 0) >= MEASURING_BOUND;

/** The first CPU figure that a turn lacks, in words; null where each turn has all. @param {Compared} row @returns {string | null} */
function cpuLackIn(row) {
  for (const { target, of } of BESIDE) {
    const lacks = lackIn(row, of);
    if (lacks !== null) return `${target} ${lacks}`;
  }
  return null;
}

/**
 * A baseline at the meter's limit, or at the rate that it is told, is faster than was measured: beside it a throughput is not met where the candidate
 * takes so much more CPU, for each byte or in the whole turn, that it would miss the target by that. The throughput is uncertain where a turn lacks the CPU.
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
