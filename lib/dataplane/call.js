/** The quality of a call. */

/** A call: packets per second, and bytes per packet (20 ms of sound at 64 kbit/s). */
export const CALL = { rate: 50, bytes: 160 };

/** RFC 3550, 6.4.1: weight of each new difference between the transit times of two packets. */
const GAIN = 1 / 16;

/**
 * Interarrival jitter by RFC 3550, of round trips.
 * @param {number[]} trips of the packets, ns, in order of arrival
 * @returns {number | null} ms; null for fewer than two packets
 */
export function jitterMs(trips) {
  if (trips.length < 2) return null;
  let jitter = 0;
  for (let index = 1; index < trips.length; index += 1)
    jitter += (Math.abs(trips[index] - trips[index - 1]) - jitter) * GAIN;
  return jitter / 1e6;
}
