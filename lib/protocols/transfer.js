/** How long a bulk transfer has to be for its rate to be told. */
import { rttSeconds } from '../link/link.js';

export const MIB = 1024 * 1024;
/** Of the transfer that tells how fast a row is. */
export const SHORT_BYTES = 8 * MIB;
const MOST_BYTES = 1024 * MIB;
/** Round trips of a link that a transfer takes at least: before, it is the start of TCP that is measured. */
const ROUND_TRIPS_LEAST = 10;

/** What a transfer should take. @param {number} seconds on loopback @param {Parameters<typeof rttSeconds>[0]} link */
export const secondsOver = (seconds, link) => Math.max(seconds, ROUND_TRIPS_LEAST * rttSeconds(link));

/** How much longer than wanted the slower side may take. */
const SLOWER_MOST = 4;

/**
 * Bytes that take the faster side `seconds`, and the slower one not much more than that; alike for both.
 * @param {(number | null)[]} rates of the sides, bytes a second; null where it was not measured
 * @param {number} seconds
 */
export function bytesFor(rates, seconds) {
  const known = rates.flatMap((rate) => (rate === null ? [] : [rate]));
  if (known.length === 0) return SHORT_BYTES;
  const bytes = Math.min(Math.max(...known), SLOWER_MOST * Math.min(...known)) * seconds;
  return Math.min(MOST_BYTES, Math.max(MIB, Math.round(bytes / MIB) * MIB));
}
