/** How long a proxy takes to find the user of a new connection, and whether it tries one user after the other. */
import { said, say } from 'k6/x/windtunnel/record';
import { spreadOf } from '../spread.js';
import { EVERY_MS, usersTried } from './live-tries.js';

const NOTE = 'lookup';
/** Connections of each of the two users. */
const TURNS = 5;
const TIMEOUT_MS = 2000;
/** Least time between two tries of a user, in times of a connection. Closer tries of a slow lookup would be more load than the changes. */
const SPACING = 2;
/** A scan finds the last user later than the first one by this factor, and by more ms than a connection of any user may vary. */
const TIMES = 2;
const BEYOND_MS = 1;

/** @typedef {{ first: number | null, last: number | null }} Lookup ms until the first byte of the far end in the fastest turn, since other programs only slow one down; null: unknown */

/**
 * In setup(), before the load: the first and the last user of the server's list take turns.
 * @param {Pick<import('./live-tries.js').Way, 'inbound' | 'target'>} way
 * @param {Partial<Record<keyof Lookup, string>>} keys
 */
export function lookUp({ inbound, target }, keys) {
  const list = Array.from({ length: TURNS }, () =>
    Object.entries(keys).map(([name, key]) => ({ name, key })),
  );
  const users = usersTried({
    target,
    connections: 1,
    timeout_ms: TIMEOUT_MS,
    limit_s: (2 * TURNS * TIMEOUT_MS) / 1000,
    users: { ...inbound, list: list.flat() },
  });
  const leastOf = (/** @type {keyof Lookup} */ wanted) =>
    spreadOf(users.map((one) => (one.name === wanted ? one.first_byte_ms : null)))?.min ?? null;
  say(NOTE, { first: leastOf('first'), last: leastOf('last') });
}

/** @returns {Partial<Lookup>} */
const lookupSaid = () => said()[NOTE] ?? {};

/** Time between two tries of a user at first, ms. */
export const spacing = () => Math.max(EVERY_MS, SPACING * (lookupSaid().last ?? 0));

/** In handleSummary: a line if the lookup is a scan. @returns {string[]} */
export function lookupNotes() {
  const { first, last } = lookupSaid();
  if (!first || !last || last < TIMES * first || last - first < BEYOND_MS) return [];
  return [
    `lookup is a scan: before the load, a new connection of the first user in the server's list carried data after ${first.toFixed(1)} ms, and one of the last user after ${last.toFixed(1)} ms; each flow and each try of a change costs it as much`,
  ];
}
