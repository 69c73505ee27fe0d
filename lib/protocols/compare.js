/** From the turns of two sides to what parts them, row by row, and to a verdict. */
import { spreadOf } from '../dataplane/sweep.js';
import { fewestPairs, pairedShift } from './signed-rank.js';

/**
 * Figures of one turn by name, units in the names; null where it could not be measured.
 * @typedef {Record<string, number | null>} Turn
 * @typedef {{ throughput: number, latency: number, memory: number, tolerance: number }} Targets of the candidate as a
 *   multiple of the baseline; tolerance is the share of a target by which it may be missed
 * @typedef {'met' | 'missed' | 'uncertain' | 'bound'} Judged bound: what measures it, or a rate that it is told, may bound it
 * @typedef {{ target: 'throughput' | 'latency' | 'memory' | 'first reply' | 'CPU', figure: string, bound: number | null,
 *   ratio: number | null, low: number | null, high: number | null, different: boolean, judged: Judged | null }} Comparison
 *   first reply and CPU have no target
 */

/** What each target is judged by, and whether more of it is better. */
const JUDGED_BY = /** @type {const} */ ([
  { target: 'throughput', figure: 'mbit_64k', more: true },
  { target: 'latency', figure: 'rtt_ms', more: false },
  { target: 'memory', figure: 'peak_anon_mib', more: false },
]);

/** Told beside them, and not judged. */
const BESIDE = /** @type {const} */ ([
  { target: 'first reply', figure: 'handshake_ms' },
  { target: 'CPU', figure: 'cpu_s_per_gib' },
]);

/**
 * CPUs from which on probe and far end, a thread each, may be what bounds a transfer. On two CPUs they share one: what is
 * left of it then goes to switching between them.
 */
export const MEASURING_BOUND = 0.75;

/** Of the three figures of a row together, so that a row that is no different is flagged in one of twenty runs at most. */
const ROW_ALPHA = 0.05;
const ALPHA = ROW_ALPHA / JUDGED_BY.length;

/** Turns of each side that a comparison needs at least. */
export const FEWEST_TURNS = fewestPairs(ALPHA);

/** @param {Turn[]} turns @returns {Record<string, import('../dataplane/sweep.js').Spread | null>} */
export function figuresOf(turns) {
  const names = [...new Set(turns.flatMap((turn) => Object.keys(turn)))];
  return Object.fromEntries(names.map((name) => [name, spreadOf(turns.map((turn) => turn[name] ?? null))]));
}

/**
 * How many times the baseline the candidate is, by the pairs of turns, with its confidence interval.
 * @param {Turn[]} baseline
 * @param {Turn[]} candidate
 * @param {string} figure
 */
export function ratioOf(baseline, candidate, figure) {
  const logs = baseline.flatMap((turn, index) => {
    const [own, other] = [turn[figure], candidate[index]?.[figure]];
    return own && other ? [Math.log(other / own)] : [];
  });
  const shift = pairedShift(logs, ALPHA);
  const of = (/** @type {number | null | undefined} */ log) =>
    log === null || log === undefined ? null : Math.exp(log);
  return { ratio: of(shift?.estimate), low: of(shift?.low), high: of(shift?.high) };
}

/**
 * A target is missed where the whole interval is beyond it and the estimate further beyond than the tolerance, and met
 * where none of the interval is further beyond than that; else the run cannot tell.
 * @param {{ ratio: number | null, low: number | null, high: number | null }} found
 * @param {number} bound
 * @param {boolean} more whether more is better
 * @param {number} tolerance
 * @returns {Judged}
 */
export function judgeTarget({ ratio, low, high }, bound, more, tolerance) {
  if (ratio === null || low === null || high === null) return 'uncertain';
  const limit = bound * (more ? 1 - tolerance : 1 + tolerance);
  if (more ? high < bound && ratio < limit : low > bound && ratio > limit) return 'missed';
  return (more ? low >= limit : high <= limit) ? 'met' : 'uncertain';
}

/**
 * @param {Turn[]} baseline turns in their order; the candidate's at the same place was measured beside it
 * @param {Turn[]} candidate
 * @param {Targets} targets
 * @param {boolean} [paced] whether the protocol is told the rate that it sends at
 * @returns {Comparison[]}
 */
export function compareTurns(baseline, candidate, targets, paced = false) {
  const judged = JUDGED_BY.map(({ target, figure, more }) => {
    const found = ratioOf(baseline, candidate, figure);
    const { low, high } = found;
    const bound = targets[target];
    return {
      target,
      figure,
      bound,
      ...found,
      different: low !== null && high !== null && (low > 1 || high < 1),
      judged: judgeTarget(found, bound, more, targets.tolerance),
    };
  });
  // They are not of the three that share a row's confidence, so that a difference has to be larger.
  const within = 1 + targets.tolerance;
  const beside = BESIDE.map(({ target, figure }) => {
    const found = ratioOf(baseline, candidate, figure);
    const { low, high } = found;
    const different = low !== null && high !== null && (low > within || high < 1 / within);
    return { target, figure, bound: null, ...found, different, judged: null };
  }).filter(({ ratio }) => ratio !== null);
  const bounded = paced || isMeterBound(baseline);
  return [...judged, ...beside].map((line) => (bounded ? doubted(line, beside, targets) : line));
}

/** @param {Turn[]} turns */
const isMeterBound = (turns) =>
  (spreadOf(turns.map((turn) => turn.measuring_cpus ?? null))?.median ?? 0) >= MEASURING_BOUND;

/**
 * A baseline at the meter's limit, or at the rate that it is told, is faster than was measured: beside it a throughput is not met where the candidate
 * takes so much more CPU for each byte that it would miss the target by that.
 * @param {Comparison} line
 * @param {Comparison[]} beside
 * @param {Targets} targets
 * @returns {Comparison}
 */
function doubted(line, beside, targets) {
  if (line.target !== 'throughput' || line.judged !== 'met') return line;
  const cpu = beside.find(({ target }) => target === 'CPU');
  const most = (1 + targets.tolerance) / targets.throughput;
  return Number(cpu?.low ?? 0) > most ? { ...line, judged: 'bound' } : line;
}
