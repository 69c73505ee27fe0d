/** How many round trips of the link something takes: the slope of its duration over the link's round trip, from two delays. */

/** A slope that is farther than this from a whole number contains noise. */
const UNCLEAR = 0.25;

/**
 * @typedef {{ rtt_ms: number, took_ms: number | null }} Timed duration over a link with this round trip; null: it did not end
 */

/**
 * The machine's own delay is the same at both round trips, so it cancels out.
 * @param {Timed} short
 * @param {Timed} long
 * @returns {number | null} round trips; null if one duration is unknown
 */
export function roundTripsOf(short, long) {
  if (short.took_ms === null || long.took_ms === null) return null;
  return (long.took_ms - short.took_ms) / (long.rtt_ms - short.rtt_ms);
}

/** @param {number | null} trips @returns {number | null} a whole number; null if it is unclear */
export function countOf(trips) {
  if (trips === null) return null;
  const count = Math.round(trips);
  return Math.abs(trips - count) > UNCLEAR ? null : count;
}
