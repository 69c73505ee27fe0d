/** The link's own samples over time, aligned with other measurements. */

/** @typedef {import('../../types/sidecar.d.ts').OverTime} OverTime */

/**
 * The largest queue in each of the link's sampling intervals after a moment.
 * @param {OverTime} link
 * @param {'up' | 'down'} direction
 * @param {number} fromUnixUs
 * @param {number} count number of intervals
 * @returns {number[]} bytes; 0 for intervals without a sample
 */
export function queueFrom(link, direction, fromUnixUs, count) {
  const first = Math.round((fromUnixUs - link.began_unix_us) / 1000 / link.every_ms) - link.from;
  return Array.from({ length: count }, (_, index) => link[direction][first + index]?.queued_bytes_most ?? 0);
}
