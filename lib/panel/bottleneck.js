/**
 * Names the part that takes most of a request's time, where the evidence says that there is one: it
 * must take the largest part of all the time, and be the largest part of more than half of the single
 * requests, with 95 % confidence (Wilson's interval: https://doi.org/10.1080/01621459.1927.10502953).
 */
import { OUTSIDE } from './components.js';

/** Fewer requests are no evidence. */
const LEAST_REQUESTS = 30;
/** Of the normal distribution, two-sided 95 %. */
const Z = 1.959964;

/**
 * @typedef {{ operation: string, component: string | null, latency_share: number | null, largest_in: number | null, requests: number, reason: string }} Bottleneck
 *   largest_in: null where single requests are not told apart
 */

/** The lower end of Wilson's interval. @param {number} hits @param {number} trials */
export function wilsonLower(hits, trials) {
  const share = hits / trials;
  const square = Z * Z;
  const centre = share + square / (2 * trials);
  const spread = Z * Math.sqrt((share * (1 - share) + square / (4 * trials)) / trials);
  return (centre - spread) / (1 + square / trials);
}

const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(0)} %`;

/** @param {string} name */
const called = (name) =>
  name === OUTSIDE ? 'what is outside the route (network, framework, waiting for a free worker)' : name;

/**
 * @param {string} operation
 * @param {{ name: string, latency_share: number | null }[]} table rows of the operation
 * @param {{ name: string, count: number }[]} largest requests of which each part took the most
 * @returns {Bottleneck | undefined} undefined where there is nothing to tell
 */
export function bottleneckOf(operation, table, largest) {
  const requests = largest.reduce((sum, { count }) => sum + count, 0);
  if (requests === 0) return undefined;
  const share = (/** @type {string} */ name) => table.find((row) => row.name === name)?.latency_share ?? 0;
  const top = largest.reduce((best, part) => (share(part.name) > share(best.name) ? part : best));
  const found = { operation, latency_share: share(top.name), largest_in: top.count, requests };
  const evidence = `${percent(found.latency_share)} of the time that clients waited, and the most of ${top.count} of ${requests} requests`;
  const most = `the largest part, ${called(top.name)}, took ${evidence}`;
  if (requests < LEAST_REQUESTS) {
    return { ...found, component: null, reason: `Too few requests to name a bottleneck: ${most}.` };
  }
  if (wilsonLower(top.count, requests) <= 0.5) {
    return { ...found, component: null, reason: `No single bottleneck: ${most}.` };
  }
  const reason = `The bottleneck is ${called(top.name)}: it took ${evidence}.`;
  return { ...found, component: top.name, reason };
}

/**
 * Of the whole run, where the panel tells nothing and only the database does: its own time against what clients
 * waited. It is no bottleneck below half; above, there is no room for a larger one.
 * @param {{ requests: number, latency_share: number | null }} work
 * @returns {Bottleneck}
 */
export function bottleneckOfDatabase({ requests, latency_share: share }) {
  const told = { operation: '', latency_share: share, largest_in: null, requests };
  if (share === null) {
    const reason =
      'How long clients waited is unknown, so nothing tells whether the database is the bottleneck.';
    return { ...told, component: null, reason };
  }
  const evidence = `the database server itself worked for ${percent(share)} of the time that clients waited, by its statement digests`;
  return share > 0.5
    ? { ...told, component: 'database', reason: `The bottleneck is database: ${evidence}.` }
    : {
        ...told,
        component: null,
        reason: `Not the database server: ${evidence}. The panel tells nothing of the rest.`,
      };
}
