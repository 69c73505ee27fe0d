/** Measures a server with a number of users: its start, memory, connections of users with their own keys, and speed. */
import { now, quantile } from 'k6/x/windtunnel/record';
import { sleep } from 'k6';
import { noteBegun, noteLeft } from '../left-open.js';
import { ask, tryAsk } from '../meter.js';
import { openGate, usersAt } from './testbed.js';

const MIB = 1024 * 1024;
export const PLACES = /** @type {const} */ (['first', 'middle', 'last']);
/** Neighbours in the server's list that stand for a place. Each has its own connection. */
export const NEIGHBOURS = 8;
/** Longest start, ms, and the wait between two tries of a connection, s. */
const START_MOST_MS = 60_000;
const TRY_S = 0.002;
const PATIENCE_MS = 5000;
const PAYLOAD_BYTES = 64;
const TRANSFER_MOST_MS = 60_000;

/**
 * @typedef {typeof PLACES[number]} Place of a user in the server's list
 * @typedef {{ connections: number, round_trips: number, mib: number }} Sizes of one turn: connections and round trips of each
 *   place, and MiB that the last user sends and gets back
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

/** The neighbours at a place of the list, in turn. @param {Place} place @param {number} users @param {number} count @returns {number[]} */
function neighboursAt(place, users, count) {
  const width = Math.min(NEIGHBOURS, users);
  const from = { first: 0, middle: Math.floor((users - width) / 2), last: users - width }[place];
  return Array.from({ length: count }, (_, index) => from + (index % width));
}

class Server {
  /** @param {Plane} plane @param {any} instance @param {number} users */
  constructor(plane, instance, users) {
    this.plane = plane;
    this.instance = instance;
    this.users = users;
  }

  /**
   * Lets users open connections with their own keys, and send bytes to the far end and back.
   * @param {number[]} places of users in the list; a connection for each
   * @param {Record<string, unknown>} spec @param {number} [bytes] of each; default: the payload
   */
  measure(places, spec, bytes) {
    return this.plane.measure(
      { proxy: null, instance: this.instance.id, usage_window: this.plane.data.window },
      {
        kind: 'users',
        warmup: 0,
        count: places.length,
        timeout_ms: PATIENCE_MS,
        users: usersAt(this.instance, places, bytes),
        ...spec,
      },
    );
  }

  /** Opens the gate and tries the first user, until a byte of our far end is back. @returns {number | null} ms */
  start() {
    const began = now();
    openGate(this.plane, this.instance.outputs);
    while (now() - began < START_MOST_MS) {
      const one = this.connections('first', 1);
      if ('outcome' in one && one.outcome.succeeded === 1) return now() - began;
      sleep(TRY_S);
    }
    return null;
  }

  /** New connections. @param {Place} place @param {number} count */
  connections(place, count) {
    return this.measure(neighboursAt(place, this.users, count), { payload_bytes: PAYLOAD_BYTES });
  }

  /** Round trips over connections that stay open. @param {Place} place @param {number} count */
  trips(place, count) {
    return this.measure(neighboursAt(place, this.users, NEIGHBOURS), { kind: 'steady', count });
  }

  /** Bytes of the last user there and back. @param {number} bytes */
  transfer(bytes) {
    return this.measure([this.users - 1], { timeout_ms: TRANSFER_MOST_MS }, bytes);
  }
}

/** From the first byte of the far end to the last one. @param {import('../meter.js').Ended} moved @returns {number | null} MiB/s */
function speedOf(moved) {
  const [one] = ('outcome' in moved && moved.outcome.users) || [];
  if (!one?.carried || one.first_byte_ms === null) return null;
  return one.received / MIB / ((one.took_ms - one.first_byte_ms) / 1000);
}

/** Use of the server's process in a probe. @param {import('../meter.js').Measured | null} measured */
const useOf = (measured) => measured?.outcome.usage?.processes.find(({ name }) => name === 'server');

/** @param {Server} server @param {number} users @param {number} turn @param {Sizes} sizes @returns {Figures} */
function through(server, users, turn, { connections, round_trips: count, mib }) {
  const start = server.start();
  noteBegun(server.instance.id);
  // Each place is first, in the middle and last in a third of the turns.
  const order = PLACES.map((_, index) => PLACES[(index + turn) % PLACES.length]);
  const { plane } = server;
  const opened = order.map((place) =>
    plane.recorded([connectOf(users)], server.connections(place, connections)),
  );
  const trips = order.map((place) => plane.recorded([tripOf(users)], server.trips(place, count)));
  const moved = server.transfer(mib * MIB);
  const uses = [...opened, ...trips, 'outcome' in moved ? moved : null].map(useOf);
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
    connect_ms: byPlace(opened, 'first_byte'),
    trip_ms: byPlace(trips, 'round_trip'),
    cpu_ms: Number.isFinite(cpu) && made > 0 ? (cpu * 1000) / made : null,
    mib_per_s: speedOf(moved),
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
    return through(new Server(plane, instance, users), users, turn, sizes);
  } finally {
    noteLeft([{ name: `${users} users`, id: instance.id, versions: instance.versions }]);
    tryAsk('DELETE', `/instances/${instance.id}`);
  }
}
