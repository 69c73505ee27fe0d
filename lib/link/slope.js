/** How many round trips of the link something takes: the slope of its time over the link's round trip, from two delays. */

/** A slope this far from a whole number has noise in it. */
export const UNCLEAR = 0.25;

/**
 * @typedef {{ rtt_ms: number, took_ms: number | null }} Timed how long it took over a link of such a round trip; null: it did not end
 */

/**
 * What the machine adds is the same at both delays and is not in it.
 * @param {Timed} short
 * @param {Timed} long
 * @returns {number | null} round trips; null where one of the two is not known
 */
export function roundTripsOf(short, long) {
  if (short.took_ms === null || long.took_ms === null) return null;
  return (long.took_ms - short.took_ms) / (long.rtt_ms - short.rtt_ms);
}

/** @param {number | null} trips @returns {number | null} a whole number; null where it is not clear which */
export function countOf(trips) {
  if (trips === null) return null;
  const count = Math.round(trips);
  return Math.abs(trips - count) > UNCLEAR ? null : count;
}
