/** Excuses errors of a row that the matrix lists as `known`. */
import { moreOften } from 'k6/x/windtunnel/difference';

/**
 * @typedef {import('./matrix.js').Row} Row
 * @typedef {import('./sides.js').Side} Side
 * @typedef {import('./result.js').SideResult} SideResult
 * @typedef {import('./outcome.js').Outcome} Outcome
 */

/** Largest share of a turn's operations that a known fault excuses. It never excuses a judged figure. */
const MOST = 0.1;
/** Figures without which a row has no result. */
const ESSENTIAL = ['rtt_ms', 'mbit_64k'];
/**
 * Share of the baseline's load over many tunnels that a candidate must carry. If a limit applies, such as QUIC's 100 streams,
 * tunnels that are still closing cause a difference of 10 %.
 */
const CARRIED_LEAST = 0.8;
/** The same for an engine with a known fault that breaks new tunnels. */
const CARRIED_LEAST_KNOWN = CARRIED_LEAST - MOST;

/** @param {SideResult} side */
const hasFew = ({ outcome, figures }) =>
  outcome === 'errors' &&
  (figures.failed_share?.max ?? 1) <= MOST &&
  ESSENTIAL.every((figure) => figures[figure]);

/**
 * The known fault of a side's engine, if the side is our own build; null for other programs.
 * @param {Pick<Row, 'known'>} row
 * @param {Pick<Side, 'engine' | 'binary' | 'server'>} side
 */
export const knownOf = ({ known }, { engine, binary, server }) =>
  binary === '' && !server ? (known?.[engine] ?? null) : null;

/**
 * Adds the known fault to errors that are not excused. Over a link the fault may break every tunnel.
 * @param {Pick<Row, 'known'>} row
 * @param {Side} side
 * @param {Outcome} outcome
 * @returns {Outcome}
 */
export function withFault(row, side, outcome) {
  const fault = knownOf(row, side);
  if (outcome.outcome !== 'errors' || fault === null) return outcome;
  return { ...outcome, detail: `${outcome.detail}; known of ${side.engine}: ${fault}` };
}

/**
 * @param {Pick<Row, 'known'>} row
 * @param {Pick<Side, 'engine' | 'binary'>} side
 * @param {SideResult} result
 * @returns {SideResult}
 */
export const excused = (row, side, result) =>
  hasFew(result) ? { ...result, known: knownOf(row, side) } : result;

/**
 * A version of sing-box older than the row cannot run it.
 * @param {Pick<Row, 'since'>} row
 * @template {import('./outcome.js').Outcome} Ended
 * @param {Ended} ended
 * @returns {Ended}
 */
export const older = ({ since }, ended) =>
  since !== undefined && ended.outcome === 'refused configuration' && ended.lacks === 'unknown type'
    ? {
        ...ended,
        outcome: /** @type {const} */ ('impossible here'),
        detail: `sing-box has it since ${since}: ${ended.detail}`,
      }
    : ended;

/**
 * A candidate must have what the baseline has: a build without it counts as refusing the configuration.
 * @template {import('./outcome.js').Outcome} Ended
 * @param {Ended} ended
 * @returns {Ended}
 */
export const wanting = (ended) =>
  ended.outcome === 'impossible here' && ended.lacks === 'left out'
    ? { ...ended, outcome: /** @type {const} */ ('refused configuration') }
    : ended;

/** Significance level of the test whether a candidate fails more often than the baseline. */
const CHANCE = 0.01;

/**
 * Another build of the baseline's engine may have the baseline's known fault, unless it fails clearly more often. A candidate
 * that carries clearly less over many tunnels than the baseline has errors.
 * @param {Pick<Row, 'known'>} row
 * @param {{ baseline: Pick<Side, 'engine' | 'binary'>, candidate: Pick<Side, 'engine' | 'binary'> }} sides
 * @param {SideResult} baseline
 * @param {SideResult} result the candidate's
 * @param {{ baseline: number | null, candidate: number | null }} failed operations in all turns; null: unknown
 * @returns {SideResult}
 */
export function besideBaseline(row, sides, baseline, result, failed) {
  const judged = excusedBeside(row, sides, result, failed);
  if (judged.outcome !== 'measured' && !judged.known) return judged;
  const least = row.known?.[sides.candidate.engine] ? CARRIED_LEAST_KNOWN : CARRIED_LEAST;
  const fewer = Object.entries(baseline.figures).some(
    ([name, share]) =>
      /^tunnels_\d+_carried_share$/.test(name) &&
      share &&
      (judged.figures[name]?.median ?? 0) < share.median * least,
  );
  if (!fewer) return judged;
  const fewerText = 'the candidate carried fewer simultaneous tunnels than the baseline';
  return {
    ...judged,
    outcome: 'errors',
    known: null,
    busy: false,
    detail: [fewerText, judged.detail].filter(Boolean).join(': '),
  };
}

/**
 * @param {Pick<Row, 'known'>} row
 * @param {{ baseline: Pick<Side, 'engine' | 'binary'>, candidate: Pick<Side, 'engine' | 'binary'> }} sides
 * @param {SideResult} result
 * @param {{ baseline: number | null, candidate: number | null }} failed
 * @returns {SideResult}
 */
function excusedBeside(row, sides, result, failed) {
  const alike = sides.candidate.engine === sides.baseline.engine;
  const known = alike && hasFew(result) && knownOf(row, sides.baseline);
  if (!known) return excused(row, sides.candidate, result);
  if (failed.baseline === null || failed.candidate === null) return result;
  if (moreOften(failed.baseline, failed.candidate) >= CHANCE) return { ...result, known };
  return {
    ...result,
    detail: `${result.detail}, more often than the baseline (${failed.candidate} against ${failed.baseline})`,
  };
}
