/** Measures a server with a number of users: its start, memory, connections of three users, and speed. */
import { now, quantile } from 'k6/x/windtunnel/record';
import { sleep } from 'k6';
import { recordOwnInstances } from '../dataplane/probe-operation.js';
import { ask, tryAsk } from '../meter.js';

const MIB = 1024 * 1024;
export const PLACES = /** @type {const} */ (['first', 'middle', 'last']);
/** Longest start, ms, and the wait between two tries of a connection, s. */
const START_MOST_MS = 60_000;
const TRY_S = 0.002;
const PATIENCE = { timeout_ms: 5000, handshake_timeout_ms: 5000 };

/**
 * @typedef {typeof PLACES[number]} Place of a user in the server's list
 * @typedef {{ connections: number, round_trips: number, mib: number }} Sizes of one turn: connections and round trips of each
 *   place, and MiB of the transfer
 * @typedef {object} Figures of one turn of a level; null: not measured
 * @property {number} users
 * @property {number} turn The first turn is 0.
 * @property {number | null} start_ms From the start of the program to the far end's first byte.
 * @property {number | null} own_mib Peak of the server's own memory (RssAnon), MiB.
 * @property {Record<Place, number | null>} connect_ms Time from dialling to the far end's first byte, median.
 * @property {Record<Place, number | null>} trip_ms Round trip, median.
 * @property {number | null} cpu_ms CPU time of the server for each new connection
 * @property {number | null} mib_per_s
 *
 * @typedef {Record<string, string | number | boolean>} Variables of the testbed
 * @typedef {{ base: Variables }} Prepared
 * @typedef {import('../dataplane/scenario.js').Plane<Prepared>} Plane
 */

/** @param {number} users */
export const connectOf = (users) => `connect_${users}`;
/** @param {number} users */
export const tripOf = (users) => `trip_${users}`;

/** Dials and waits for the first byte. @param {number} count */
const dials = (count) => ({
  kind: 'handshake',
  first_reply: true,
  payload_bytes: 64,
  warmup: 0,
  count,
  ...PATIENCE,
});

/** One server with its client. */
class Server {
  /** @param {Plane} plane @param {any} instance */
  constructor(plane, instance) {
    this.plane = plane;
    this.instance = instance;
    const { USERS_URL: url, USERS_MIDDLE: middle, USERS_LAST: last } = instance.outputs;
    /** @type {Record<Place, string>} */
    this.addresses = { first: url.replace('socks5://', ''), middle, last };
  }

  /** @param {Place} place @param {Record<string, unknown>} spec */
  measure(place, spec) {
    const proxy = { address: this.addresses[place], username: null, password: null };
    const via = { proxy, instance: this.instance.id, usage_window: this.plane.data.window };
    const measured = this.plane.measure(via, spec);
    if ('outcome' in measured && measured.outcome.usage)
      recordOwnInstances(measured.outcome.usage.total.cpu_s);
    return measured;
  }

  /** Opens the gate and tries the first user, until a byte of our far end is back. @returns {number | null} ms */
  start() {
    const began = now();
    this.plane.measure(
      { proxy: null, instance: null, usage_window: null },
      { kind: 'handshake', warmup: 0, count: 1, target: this.instance.outputs.USERS_GATE },
    );
    while (now() - began < START_MOST_MS) {
      const one = this.measure('first', dials(1));
      if ('outcome' in one && one.outcome.succeeded === 1) return now() - began;
      sleep(TRY_S);
    }
    return null;
  }

  /** @param {string} operation @param {Place} place @param {Record<string, unknown>} spec */
  record(operation, place, spec) {
    return this.plane.recorded([operation], this.measure(place, spec));
  }
}

/** Use of the server's process in a probe. @param {import('../meter.js').Measured | null} measured */
const useOf = (measured) => measured?.outcome.usage?.processes.find(({ name }) => name === 'server');

/** @param {Server} server @param {number} users @param {number} turn @param {Sizes} sizes @returns {Figures} */
function through(server, users, turn, { connections, round_trips: count, mib }) {
  const start = server.start();
  // Each place is first, in the middle and last in a third of the turns.
  const order = PLACES.map((_, index) => PLACES[(index + turn) % PLACES.length]);
  const opened = order.map((place) => server.record(connectOf(users), place, dials(connections)));
  const trips = order.map((place) =>
    server.record(tripOf(users), place, { kind: 'tcp', count, ...PATIENCE }),
  );
  const transfer = { bytes: mib * MIB, warmup_bytes: MIB, direction: 'down', every_byte: true };
  const moved = server.measure('last', { kind: 'throughput', warmup: 1, count: 1, transfer });
  const whole = 'outcome' in moved && moved.outcome.succeeded === 1 ? moved : null;
  const uses = [...opened, ...trips, whole].map(useOf);
  const cpu = opened.reduce((sum, one) => sum + (useOf(one)?.cpu_s ?? NaN), 0);
  const made = opened.reduce((sum, one) => sum + (one?.outcome.attempted ?? 0), 0);
  const own = Math.max(...uses.map((use) => use?.peak_anon_bytes ?? NaN)) / MIB;
  /** @param {(import('../meter.js').Measured | null)[]} all @param {string} series */
  const byPlace = (all, series) =>
    /** @type {Record<Place, number | null>} */ (
      Object.fromEntries(order.map((place, index) => [place, quantile([all[index]], series)]))
    );
  return {
    users,
    turn,
    start_ms: start,
    own_mib: Number.isFinite(own) ? own : null,
    connect_ms: byPlace(opened, 'total'),
    trip_ms: byPlace(trips, 'round_trip'),
    cpu_ms: Number.isFinite(cpu) && made > 0 ? (cpu * 1000) / made : null,
    mib_per_s: whole && whole.outcome.bytes / MIB / whole.outcome.duration_s,
  };
}

/**
 * Measures one level once, with new processes.
 * @param {Plane} plane @param {number} users @param {number} turn @param {Sizes} sizes @returns {Figures}
 */
export function measureLevel(plane, users, turn, sizes) {
  const { base } = plane.data;
  const variables = { ...base, users, gated: true, cpus: plane.environment.placement.system_cpus };
  const body = { log_name: `${users}-users-${turn + 1}`, variables };
  const instance = ask('POST', '/testbeds/users/start', body, 2 * START_MOST_MS);
  try {
    return through(new Server(plane, instance), users, turn, sizes);
  } finally {
    tryAsk('DELETE', `/instances/${instance.id}`);
  }
}
