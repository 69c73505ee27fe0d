/** What a call makes of its packets. */

/** RFC 3550, 6.4.1: each difference of two packets' times on the way counts for a sixteenth. */
const GAIN = 1 / 16;

/**
 * Interarrival jitter as RFC 3550 has it, over packets that went there and back.
 * @param {number[]} trips of the packets, ns, in the order in which they came back
 * @returns {number | null} ms; null of fewer than two packets
 */
export function jitterMs(trips) {
  if (trips.length < 2) return null;
  let jitter = 0;
  for (let index = 1; index < trips.length; index += 1)
    jitter += (Math.abs(trips[index] - trips[index - 1]) - jitter) * GAIN;
  return jitter / 1e6;
}
