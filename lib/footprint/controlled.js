/** A program that the script starts or reloads itself, by a connection to its control port. */
import { sleep } from 'k6';
import { now } from '../clock.js';
import { firstReply, tryAsk } from '../meter.js';

/** Longest start, ms, and the wait between two tries of a connection, s. */
export const START_MOST_MS = 280_000;
const TRY_S = 0.001;
const PATIENCE = { timeout_ms: 5000, handshake_timeout_ms: 5000 };

/**
 * @typedef {import('../dataplane/scenario.js').Plane<any>} Plane
 * @typedef {{ at: number, ms: number }} Dialled `at`: its end, ms since 1970; `ms`: how long it took
 * @typedef {object} About
 * @property {string} address where the program listens
 * @property {string} control port that starts or reloads it
 * @property {string} log below the logs of the run
 * @property {object} [way] how a probe passes the program; default: as a SOCKS proxy
 * @property {number} [mostMs] longest start
 */

/** Dials and waits for the first byte. @param {number} count */
export const dials = (count) => ({ ...firstReply(count), ...PATIENCE });

export class Controlled {
  /** @param {Plane} plane @param {any} instance of a testbed @param {About} about */
  constructor(plane, instance, { address, control, log, way, mostMs = START_MOST_MS }) {
    this.plane = plane;
    this.instance = instance;
    this.address = address;
    this.control = control;
    this.log = log;
    this.mostMs = mostMs;
    /** Without a measurement of its use. */
    this.via = {
      instance: null,
      usage_window: null,
      proxy: null,
      ...(way ?? { proxy: { address, username: null, password: null } }),
    };
  }

  /** Why the program has ended; null: it runs. @returns {string | null} */
  ended() {
    const found = tryAsk('GET', `/instances/${this.instance.id}`)?.processes ?? [];
    const [process] = found.filter((/** @type {any} */ { exit }) => exit !== null);
    return process ? `the program ended (${process.exit}): see logs/${this.log} of the run` : null;
  }

  /** The first try that succeeds; null: none in time, or the program has ended. @template T @param {() => T | null} tryOnce @returns {T | null} */
  until(tryOnce) {
    const began = now();
    while (now() - began < this.mostMs) {
      const found = tryOnce();
      if (found) return found;
      if (this.ended() !== null) return null;
      sleep(TRY_S);
    }
    return null;
  }

  /** One connection. @param {import('../dataplane/scenario.js').Via} via @param {Record<string, unknown>} spec @returns {Dialled | null} null: it failed */
  dialled(via, spec) {
    const one = this.plane.measure(via, spec);
    if (!('outcome' in one) || one.outcome.succeeded !== 1) return null;
    return { at: one.ends.total[0], ms: one.values.total[0] / 1e6 };
  }

  /** A connection that sends nothing. @param {string} target */
  touch(target) {
    const direct = { proxy: null, instance: null, usage_window: null };
    return this.dialled(direct, { kind: 'handshake', warmup: 0, count: 1, target, ...PATIENCE });
  }

  /** A connection to the control port: starts or reloads the program. @returns {number} when, ms since 1970 */
  order() {
    const touched = this.touch(this.control);
    if (!touched) throw new Error(`${this.control}: the control port of the testbed does not answer`);
    return touched.at - touched.ms;
  }

  /** Waits until the program takes connections. */
  listens() {
    return this.until(() => this.touch(this.address));
  }

  /** Waits until a byte of the far end has come back. */
  carries() {
    return this.until(() => this.dialled(this.via, dials(1)));
  }

  /** Starts the program. Times count from the order; `first_ms` counts from the dial. @returns {{ listen_ms: number | null, start_ms: number | null, first_ms: number | null }} */
  start() {
    const at = this.order();
    const listens = this.listens();
    const first = listens && this.carries();
    return {
      listen_ms: listens && listens.at - at,
      start_ms: first && first.at - at,
      first_ms: first && first.ms,
    };
  }
}
