/**
 * Names the part that takes most of a request's time, if the evidence suffices. The part must take the largest share of the
 * total time. It must also be the largest part of more than half of the single requests, with 95 % confidence (Wilson's
 * interval: https://doi.org/10.1080/01621459.1927.10502953).
 */
import { OUTSIDE } from './components.js';
import { percent } from '../units.js';

/** Fewer requests are not enough evidence. */
const LEAST_REQUESTS = 30;
/** Quantile of the normal distribution for a two-sided confidence of 95 %. */
const Z = 1.959964;

/**
 * @typedef {{ operation: string, component: string | null, latency_share: number | null, largest_in: number | null, requests: number, reason: string }} Bottleneck
 *   `largest_in` is null if single requests are unknown
 */

/** The lower end of Wilson's interval. @param {number} hits @param {number} trials */
export function wilsonLower(hits, trials) {
  const share = hits / trials;
  const square = Z * Z;
  const centre = share + square / (2 * trials);
  const spread = Z * Math.sqrt((share * (1 - share) + square / (4 * trials)) / trials);
  return (centre - spread) / (1 + square / trials);
}

/** @param {string} name */
const nameInText = (name) =>
  name === OUTSIDE ? 'what is outside the route (network, framework, waiting for a free worker)' : name;

/**
 * @param {string} operation
 * @param {{ name: string, latency_share: number | null }[]} table rows of the operation
 * @param {{ name: string, count: number }[]} largest for each part the number of requests in which it took the most time
 * @returns {Bottleneck | undefined} undefined without requests
 */
export function bottleneckOf(operation, table, largest) {
  const requests = largest.reduce((sum, { count }) => sum + count, 0);
  if (requests === 0) return undefined;
  const share = (/** @type {string} */ name) => table.find((row) => row.name === name)?.latency_share ?? 0;
  const top = largest.reduce((best, part) => (share(part.name) > share(best.name) ? part : best));
  const found = {
    operation,
    latency_share: share(top.name),
    largest_in: top.count,
    requests,
    component: null,
  };
  const evidence = `${percent(found.latency_share)} of the time that clients waited, and the most of ${top.count} of ${requests} requests`;
  const most = `the largest part, ${nameInText(top.name)}, took ${evidence}`;
  if (requests < LEAST_REQUESTS)
    return { ...found, reason: `Too few requests to name a bottleneck: ${most}.` };
  if (wilsonLower(top.count, requests) <= 0.5) return { ...found, reason: `No single bottleneck: ${most}.` };
  const reason = `The bottleneck is ${nameInText(top.name)}: it took ${evidence}.`;
  return { ...found, component: top.name, reason };
}

/**
 * The bottleneck of the whole run if the database reports times and the panel does not. The database's time is compared
 * with the time that clients waited: below half it is no bottleneck, above half no other part can be larger.
 * @param {{ requests: number, latency_share: number | null }} work
 * @returns {Bottleneck}
 */
export function bottleneckOfDatabase({ requests, latency_share: share }) {
  const base = { operation: '', latency_share: share, largest_in: null, requests, component: null };
  const unknown =
    'How long clients waited is unknown, so it is also unknown whether the database is the bottleneck.';
  if (share === null) return { ...base, reason: unknown };
  const evidence = `the database server itself worked for ${percent(share)} of the time that clients waited, by its statement digests`;
  return share > 0.5
    ? { ...base, component: 'database', reason: `The bottleneck is database: ${evidence}.` }
    : { ...base, reason: `Not the database server: ${evidence}. The panel reports no other parts.` };
}
