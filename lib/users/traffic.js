/** Lets each user move a known number of bytes through a proxy, by SOCKS with the user's name as login. */
import { chunked } from '../lists.js';
import { measureAll } from '../meter.js';

/**
 * @typedef {import('./charges.js').Moved} Moved
 * @typedef {import('../dataplane/scenario.js').Plane<any>} Plane
 * @typedef {{ users: number, long: number, short: number, datagrams: number }} Sizes bytes of a long connection; short connections
 *   and datagrams of a user
 * @typedef {{ operation: string, spec: Record<string, unknown> }} Part of a user's traffic
 */

const MIB = 1024 * 1024;
/** By profile. `restart_s`: time before the restart, and after it, s. */
export const PROFILES = {
  smoke: { users: 10, long: 4 * MIB, short: 20, datagrams: 200, restart_s: 0.5 },
  quick: { users: 100, long: 16 * MIB, short: 50, datagrams: 500, restart_s: 2 },
  full: { users: 100, long: 100 * MIB, short: 200, datagrams: 2000, restart_s: 6 },
};

/** Probes at once, below the sidecar's maximum. */
const AT_ONCE = 6;
const SHORT_BYTES = 8 * 1024;
const TRIP_BYTES = 16 * 1024;
const PATIENCE = { timeout_ms: 10_000, handshake_timeout_ms: 10_000, warmup: 0, connections: 1 };

/** A transfer of whole bytes. @param {number} bytes @param {'up' | 'down'} direction @returns {Part} */
const transfer = (bytes, direction) => ({
  operation: 'transfer',
  spec: {
    kind: 'throughput',
    count: 1,
    transfer: { bytes: Math.max(1, Math.floor(bytes)), direction, every_byte: true },
    ...PATIENCE,
  },
});

/** @param {number} count @returns {Part} */
const short = (count) => ({
  operation: 'connection',
  spec: { kind: 'handshake', first_reply: true, payload_bytes: SHORT_BYTES, count, ...PATIENCE },
});

/** @param {number} count @returns {Part} */
const trips = (count) => ({
  operation: 'trip',
  spec: { kind: 'tcp', payload_bytes: TRIP_BYTES, count, ...PATIENCE },
});

/** @param {number} count @param {number} bytes @returns {Part} */
const datagrams = (count, bytes) => ({
  operation: 'datagram',
  spec: { kind: 'udp', payload_bytes: bytes, count, ...PATIENCE, timeout_ms: 2000 },
});

/** Kinds of users, who take turns in the list: what such a user does. @type {Record<string, (sizes: Sizes, share: number) => Part[]>} */
const KINDS = {
  'one long connection, up': ({ long }, share) => [transfer(long * share, 'up')],
  'one long connection, down': ({ long }, share) => [transfer((long * share) / 2, 'down')],
  'many short connections': (sizes) => [short(sizes.short)],
  'round trips': ({ long }, share) => [trips(Math.ceil((long * share) / 4 / TRIP_BYTES))],
  'datagrams of 1,200 B': (sizes) => [datagrams(sizes.datagrams, 1200)],
  'TCP and UDP': (sizes, share) => [
    transfer((sizes.long * share) / 8, 'down'),
    datagrams(sizes.datagrams * 2, 1200),
  ],
  'one byte each by TCP and UDP': () => [transfer(1, 'up'), datagrams(1, 1)],
  'datagrams of 1 B': (sizes) => [datagrams(sizes.datagrams, 1)],
  'one long connection, both ways': ({ long }, share) => [
    transfer((long * share) / 16, 'up'),
    transfer(long * share, 'down'),
  ],
  none: () => [],
};

/** @param {Sizes} sizes @returns {{ moved: Moved, parts: Part[] }[]} all users, without anything moved */
export function usersOf(sizes) {
  const kinds = Object.entries(KINDS);
  return Array.from({ length: sizes.users }, (_, index) => {
    const [traffic, partsOf] = kinds[index % kinds.length];
    // Each user moves another number of bytes, so that a charge shows whose it is.
    const share = 1 / (1 + Math.floor(index / kinds.length) / 8);
    const parts = partsOf(sizes, share);
    const moved = { name: `user-${index}`, traffic, tcp: { up: 0, down: 0 }, udp: { up: 0, down: 0 } };
    return { moved, parts };
  });
}

/** The way of a user through the proxy. @param {string} address of the proxy's SOCKS entry @param {string} name @param {any} plane */
export const viaOf = (address, name, plane) => ({
  proxy: { address, username: name, password: name },
  instance: null,
  usage_window: plane.data.window,
});

/**
 * Adds the far end's counts of a probe to its user.
 * @param {Moved} moved @param {'tcp' | 'udp'} transport @param {import('../meter.js').Outcome} outcome @returns {boolean} false: the far end has no counts
 */
export function addCounts(moved, transport, { far_end: counts }) {
  if (!counts?.bytes_up || !counts.bytes_down) return false;
  moved[transport].up += counts.bytes_up.found;
  moved[transport].down += counts.bytes_down.found;
  return true;
}

/**
 * Moves the bytes of one transport of all users, several users at once, and adds what the far end counted.
 * @param {Plane} plane @param {string} address of the proxy's SOCKS entry @param {ReturnType<typeof usersOf>} users @param {'tcp' | 'udp'} transport
 * @returns {string[]} users whose bytes are not known
 */
export function move(plane, address, users, transport) {
  const all = users.flatMap(({ moved, parts }) =>
    parts
      .filter(({ spec }) => (spec.kind === 'udp') === (transport === 'udp'))
      .map((part) => ({ moved, ...part })),
  );
  /** @type {string[]} */
  const unknown = [];
  for (const some of chunked(all, AT_ONCE)) {
    const ended = measureAll(
      some.map(({ moved, spec }) => plane.specOf(viaOf(address, moved.name, plane), spec)),
    );
    some.forEach(({ moved, operation }, index) => {
      const measured = plane.recorded([operation], ended[index]);
      if (!measured || !addCounts(moved, transport, measured.outcome)) unknown.push(moved.name);
    });
  }
  return unknown;
}
