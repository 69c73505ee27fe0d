/**
 * Which percentiles a number of samples can carry. k6 keeps every sample of a
 * Trend and interpolates between the two nearest ranks, so its percentiles are
 * exact; but of 50 samples the 99th percentile is only their maximum with a
 * misleading name.
 */

/** Fields of a result's latency_ms, k6's name for each, and its share. */
export const PERCENTILES = /** @type {const} */ ([
  ['p50', 'med', 0.5],
  ['p90', 'p(90)', 0.9],
  ['p95', 'p(95)', 0.95],
  ['p99', 'p(99)', 0.99],
  ['p99_9', 'p(99.9)', 0.999],
]);

/**
 * At least one sample must lie beyond the percentile.
 * @param {number} share 0 to 1
 * @param {number} samples
 */
export const carries = (share, samples) => samples * (1 - share) >= 1 - 1e-9;

/**
 * The share of a threshold's aggregation, such as p(95); undefined where it is none.
 * @param {string} expression
 */
export function shareOf(expression) {
  if (expression.startsWith('med')) return 0.5;
  const match = /^p\((\d+(?:\.\d+)?)\)/.exec(expression);
  return match ? Number(match[1]) / 100 : undefined;
}
