/**
 * Round trips per minute by draft-ietf-ippm-responsiveness-08, 5.3.1.1: 60,000 divided by the mean in ms of the fastest 95 % of
 * round trips. The draft uses an HTTP/2 server with TLS; docs/how-to/bad-network.md lists the differences.
 */

/** Share of round trips that count: the draft's TMP. */
const KEPT = 0.95;
const MS_OF_A_MINUTE = 60_000;

/**
 * The mean without the slowest values. Lost requests count as slowest.
 * @param {number[]} values
 * @param {number} [never] number of lost requests
 * @returns {number | null} null without values, or if more requests were lost than are left out
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
 * The draft's responsiveness: the mean of the round trips per minute on loaded tunnels and on new ones. A new tunnel's first
 * reply takes several round trips, and each counts as one.
 * @param {number | null} loadedMs a round trip on the loaded tunnel
 * @param {number | null} newMs until a new tunnel's first reply
 * @param {number | null} trips round trips in newMs, at least 1; null: unknown
 * @returns {number | null} null if a value is unknown
 */
export function responsiveness(loadedMs, newMs, trips) {
  const loaded = perMinute(loadedMs);
  const foreign = perMinute(newMs === null || trips === null ? null : newMs / Math.max(1, trips));
  return loaded === null || foreign === null ? null : (loaded + foreign) / 2;
}
