/** A proxy with a number of routing rules, which this scenario starts and reloads itself: the testbed `rules`. */
import { sleep } from 'k6';
import { now } from '../clock.js';
import { ask, firstReply, tryAsk } from '../meter.js';

/** Longest start, ms, and the wait between two tries of a connection, s. */
export const START_MOST_MS = 280_000;
const TRY_S = 0.001;
const PATIENCE = { timeout_ms: 5000, handshake_timeout_ms: 5000 };
/** Engines whose configuration the testbed writes. */
const ENGINES = ['sing-box', 'xray'];
/** Variables of the run's own testbed that hold for the proxies of this scenario, too. */
const SAME = ['binary', 'gomaxprocs', 'gogc'];

/**
 * @typedef {Record<string, string | number | boolean>} Variables of the testbed
 * @typedef {{ base: Variables }} Prepared
 * @typedef {import('../dataplane/scenario.js').Plane<Prepared>} Plane
 * @typedef {{ at: number, ms: number }} Dialled `at`: its end, ms since 1970; `ms`: how long it took
 */

/**
 * The testbed's variables for the engine of the run's own testbed.
 * @param {import('../sidecar.js').Instance | null} own @returns {Variables | string} a text is a refusal
 */
export function engineOf(own) {
  const engine = own?.variables.engine ?? own?.testbed ?? '';
  if (!own || !ENGINES.includes(String(engine)))
    return `footprint/start writes rules for ${ENGINES.join(' and ')} only: choose TESTBED=sing-box, xray or rules, each with binary= for another program`;
  const { auth, tls } = own.variables;
  if (auth || tls)
    return 'footprint/start takes SOCKS without a login and without TLS: leave out auth and tls';
  const same = SAME.filter((name) => name in own.variables).map((name) => [name, own.variables[name]]);
  return { engine, ...Object.fromEntries(same) };
}

/** Dials and waits for the first byte. @param {number} count */
export const dials = (count) => ({ ...firstReply(count), ...PATIENCE });

/** The first try that succeeds; null: none in time, or `over`. @template T @param {() => T | null} tryOnce @param {() => boolean} over @returns {T | null} */
function until(tryOnce, over) {
  const began = now();
  while (now() - began < START_MOST_MS) {
    const found = tryOnce();
    if (found) return found;
    if (over()) return null;
    sleep(TRY_S);
  }
  return null;
}

export class RulesProxy {
  /** @param {Plane} plane @param {number} rules @param {'start' | 'reload'} control @param {string} logName */
  constructor(plane, rules, control, logName) {
    const variables = { ...plane.data.base, rules, control, cpus: plane.environment.placement.system_cpus };
    const body = { log_name: logName, variables };
    this.plane = plane;
    this.logName = logName;
    this.instance = ask('POST', '/testbeds/rules/start', body, START_MOST_MS + 30_000);
    const { FOOTPRINT_URL: url, FOOTPRINT_CONTROL: at } = this.instance.outputs;
    this.address = url.replace('socks5://', '');
    this.control = at;
    /** Without a measurement of its use. */
    this.via = {
      proxy: { address: this.address, username: null, password: null },
      instance: null,
      usage_window: null,
    };
  }

  end() {
    tryAsk('DELETE', `/instances/${this.instance.id}`);
  }

  /** Why the program has ended; null: it runs. @returns {string | null} */
  ended() {
    const found = tryAsk('GET', `/instances/${this.instance.id}`)?.processes ?? [];
    const [process] = found.filter((/** @type {any} */ { exit }) => exit !== null);
    return process
      ? `the program ended (${process.exit}): see logs/${this.logName}/proxy.log of the run`
      : null;
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
    if (!touched) throw new Error('footprint/start: the control port of the testbed does not answer');
    return touched.at - touched.ms;
  }

  /** Waits until the proxy takes connections. */
  listens() {
    return until(
      () => this.touch(this.address),
      () => this.ended() !== null,
    );
  }

  /** Waits until a byte of the far end has come back. */
  carries() {
    return until(
      () => this.dialled(this.via, dials(1)),
      () => this.ended() !== null,
    );
  }
}
