/** Which errors of a row are excused: those that the matrix knows of, as `known`. */
import { moreOften } from 'k6/x/windtunnel/difference';

/**
 * @typedef {import('./matrix.js').Row} Row
 * @typedef {import('./sides.js').Side} Side
 * @typedef {import('./result.js').SideResult} SideResult
 * @typedef {import('./outcome.js').Outcome} Outcome
 */

/** A known fault excuses this share of a turn's operations, and no figure that is judged. */
const MOST = 0.1;
/** Figures without which a row tells nothing. */
export const ESSENTIAL = ['rtt_ms', 'mbit_64k'];
/**
 * Of what the baseline carried over many tunnels at once a candidate must carry so much. Where a limit bounds them, such as
 * QUIC's 100 streams, tunnels that are still being closed make one in ten of difference.
 */
const CARRIED_LEAST = 0.8;
/** The same where a fault of it is known, which breaks new tunnels. */
const CARRIED_LEAST_KNOWN = CARRIED_LEAST - MOST;

/** @param {SideResult} side */
const hasFew = ({ outcome, figures }) =>
  outcome === 'errors' &&
  (figures.failed_share?.max ?? 1) <= MOST &&
  ESSENTIAL.every((figure) => figures[figure]);

/**
 * What our own build of a side's engine is known to get wrong now and then; of another program nothing is.
 * @param {Pick<Row, 'known'>} row
 * @param {Pick<Side, 'engine' | 'binary' | 'server'>} side
 */
export const knownOf = ({ known }, { engine, binary, server }) =>
  binary === '' && !server ? (known?.[engine] ?? null) : null;

/**
 * Errors with the fault that may explain them, where they are not excused: over a link it may break every tunnel.
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
 * A version that is older than the row has no part in it.
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
 * What the baseline has, a candidate must have: a build that leaves it out refuses it.
 * @template {import('./outcome.js').Outcome} Ended
 * @param {Ended} ended
 * @returns {Ended}
 */
export const wanting = (ended) =>
  ended.outcome === 'impossible here' && ended.lacks === 'left out'
    ? { ...ended, outcome: /** @type {const} */ ('refused configuration') }
    : ended;

/** How often chance alone may make a candidate that fails as rarely as the baseline look as if it failed more. */
const CHANCE = 0.01;

/**
 * Another build of the baseline's engine may have the fault that the baseline is known for, where it does not show it
 * clearly more often. A candidate that carries clearly less over many tunnels at once than the baseline did has errors.
 * @param {Pick<Row, 'known'>} row
 * @param {{ baseline: Pick<Side, 'engine' | 'binary'>, candidate: Pick<Side, 'engine' | 'binary'> }} sides
 * @param {SideResult} baseline
 * @param {SideResult} result the candidate's
 * @param {{ baseline: number | null, candidate: number | null }} failed operations of all turns; null where nobody knows
 * @returns {SideResult}
 */
export function besideBaseline(row, sides, baseline, result, failed) {
  const own = excusedBeside(row, sides, result, failed);
  if (own.outcome !== 'measured' && !own.known) return own;
  const least = row.known?.[sides.candidate.engine] ? CARRIED_LEAST_KNOWN : CARRIED_LEAST;
  const fewer = Object.entries(baseline.figures).some(
    ([name, share]) =>
      /^tunnels_\d+_carried_share$/.test(name) &&
      share &&
      (own.figures[name]?.median ?? 0) < share.median * least,
  );
  if (!fewer) return own;
  const told = 'over many tunnels at once it carried less than the baseline';
  return {
    ...own,
    outcome: 'errors',
    known: null,
    busy: false,
    detail: [told, own.detail].filter(Boolean).join(': '),
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
