/**
 * Round trips a minute, as draft-ietf-ippm-responsiveness-08, 5.3.1.1, makes them: of the fastest 95 % of round trips the mean, and 60,000
 * by that in ms. What the draft asks of a server of its own (HTTP/2, TLS) is not asked here: docs/how-to/bad-network.md says what differs.
 */

/** The draft's TMP. */
const KEPT = 0.95;
const MS_OF_A_MINUTE = 60_000;

/**
 * The mean without the slowest: single-sided. What never came is among the slowest.
 * @param {number[]} values
 * @param {number} [never] how many never came
 * @returns {number | null} null of none, and where more never came than are left out: nobody knows it then
 */
export function trimmedMean(values, never = 0) {
  const count = Math.max(1, Math.floor((values.length + never) * KEPT));
  if (count > values.length) return null;
  const kept = values.toSorted((a, b) => a - b).slice(0, count);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

/** @param {number | null} ms of a round trip @returns {number | null} */
export const perMinute = (ms) => (ms === null || !(ms > 0) ? null : MS_OF_A_MINUTE / ms);

/**
 * The draft's responsiveness: the mean of that on the tunnels that carry the load, and of that on new ones. A new tunnel's first reply
 * takes several round trips, each of which counts as one.
 * @param {number | null} loadedMs a round trip on the loaded tunnel
 * @param {number | null} newMs until a new tunnel's first reply
 * @param {number | null} trips round trips that this takes, one at least; null where that is not known
 * @returns {number | null} null where one of them is missing
 */
export function responsiveness(loadedMs, newMs, trips) {
  const loaded = perMinute(loadedMs);
  const foreign = perMinute(newMs === null || trips === null ? null : newMs / Math.max(1, trips));
  return loaded === null || foreign === null ? null : (loaded + foreign) / 2;
}
