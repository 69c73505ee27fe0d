/** The size that a bulk transfer needs for an accurate rate. */
import { rttSeconds } from '../link.js';

export const MIB = 1024 * 1024;
/** Size of the transfer that measures a row's speed. */
export const SHORT_BYTES = 8 * MIB;
const MOST_BYTES = 1024 * MIB;
/** Least duration of a transfer in round trips of the link; a shorter one measures only TCP's slow start. */
const ROUND_TRIPS_LEAST = 10;

/** Duration that a transfer should have, s. @param {number} seconds on loopback @param {Parameters<typeof rttSeconds>[0]} link */
export const secondsOver = (seconds, link) => Math.max(seconds, ROUND_TRIPS_LEAST * rttSeconds(link));

/** How many times the planned duration the slower side may take. */
const SLOWER_MOST = 4;

/**
 * The size of a transfer that takes the faster side `seconds`, and the slower side not much more. Both sides get the same size.
 * @param {(number | null)[]} rates of the sides, bytes per second; null: not measured
 * @param {number} seconds
 */
export function bytesFor(rates, seconds) {
  const known = rates.flatMap((rate) => (rate === null ? [] : [rate]));
  if (known.length === 0) return SHORT_BYTES;
  const bytes = Math.min(Math.max(...known), SLOWER_MOST * Math.min(...known)) * seconds;
  return Math.min(MOST_BYTES, Math.max(MIB, Math.round(bytes / MIB) * MIB));
}
