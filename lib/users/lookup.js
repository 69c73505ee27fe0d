/** Whether a proxy tries one user after the other to find the user of a new connection. */
import { said, say } from 'k6/x/windtunnel/record';
import { median } from '../spread.js';
import { asked, ended } from './live-tries.js';

const NOTE = 'lookup';
/** Connections of each of the two users. */
const TURNS = 9;
const TIMEOUT_MS = 5000;
/** A scan finds the last user later than the first one by this factor, and by more ms than a connection of any user may vary. */
const TIMES = 2;
const BEYOND_MS = 1;

/** @typedef {{ first: number, last: number }} Lookup ms until the first byte of the far end, median */

/**
 * In setup(), while nobody else connects: the first and the last user of the server's list take turns.
 * @param {import('./live-tries.js').Way} way
 * @param {Record<keyof Lookup, string | undefined>} keys
 */
export function lookUp({ inbound, target }, keys) {
  const list = Array.from({ length: TURNS }, () =>
    Object.entries(keys).map(([name, key]) => ({ name, key })),
  );
  const { users } = ended(
    asked('POST', '/probes', {
      kind: 'users',
      target,
      payload_bytes: 64,
      connections: 1,
      timeout_ms: TIMEOUT_MS,
      limit_s: (2 * TURNS * TIMEOUT_MS) / 1000,
      users: { ...inbound, list: list.flat() },
    }).id,
  );
  const medianOf = (/** @type {keyof Lookup} */ wanted) =>
    median(users.map((/** @type {any} */ one) => (one.name === wanted ? one.first_byte_ms : null)));
  say(NOTE, { first: medianOf('first'), last: medianOf('last') });
}

/** In handleSummary: a line if the lookup is a scan. @returns {string[]} */
export function lookupNotes() {
  const { first, last } = /** @type {Lookup} */ (said()[NOTE] ?? {});
  if (!(last > TIMES * first && last - first > BEYOND_MS)) return [];
  return [
    `lookup is a scan: before the load, a new connection of the first user in the server's list carried data after ${first.toFixed(1)} ms, and one of the last user after ${last.toFixed(1)} ms; each flow and each try of a change costs it as much`,
  ];
}
