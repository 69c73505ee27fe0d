/** A way over a link: through the client and server of a row, or directly, and what its probes bring back. */
import { ask, stopEcho, tryAsk } from '../dataplane/meter.js';
import { cpusOf } from '../dataplane/environment.js';
import {
  knownErrors,
  recordCut,
  recordErrors,
  recordFarEnd,
  recordOwnInstances,
} from '../dataplane/probe-operation.js';
import { ofProbes } from '../protocols/outcome.js';
import { entryOf } from '../protocols/way.js';
import { endsOf } from './link.js';
import { itemOf } from './points.js';

/**
 * @typedef {import('../dataplane/meter.js').Measured} Measured
 * @typedef {Record<string, unknown>} Spec of a probe (sidecar/README.md)
 * @typedef {{ sent_bytes: number, lost: number, sent: number, [name: string]: number }} Counts of one direction (sidecar/README.md)
 * @typedef {{ up: Counts, down: Counts }} Both
 */
/**
 * @template T
 * @typedef {import('./lockstep.js').Steps<T>} Steps
 */

/** Of what a link may do, nothing but its delay. */
const CLEAN = 'rate:none,loss:0%,jitter:0ms,reorder:0%,duplicate:0%,corrupt:0%,dead:no';
/** Nothing that works takes so long over any of the presets. */
const PATIENCE = { timeout_ms: 20_000, handshake_timeout_ms: 20_000 };

export class Way {
  /**
   * @param {import('../dataplane/scenario.js').Plane} plane
   * @param {any} instance that was started over a link, with its `ends`
   * @param {string} operation that what fails is recorded under
   * @param {{ direct?: boolean }} [about] direct: past the client and the server
   */
  constructor(plane, instance, operation, { direct = false } = {}) {
    this.plane = plane;
    this.instance = instance;
    this.operation = operation;
    this.direct = direct;
    /** @type {Record<string, number>} by kind */
    this.errors = {};
    /** @type {string | null} why something could not be measured at all, in the words of the first that could not */
    this.why = null;
  }

  get id() {
    return this.instance.id;
  }

  /**
   * A spec as this way's probe takes it.
   * @param {Spec} spec
   * @param {{ tcp: string, udp: string }} [far] the instance's own far end unless given
   */
  spec(spec, far = this.instance.ends[this.direct ? 'far' : 'home']) {
    const { probe_cpus: cpus, wait } = this.plane.environment.placement;
    const { window } = this.plane.data;
    return {
      cpus: cpusOf(cpus),
      wait,
      warmup: 0,
      limit_s: 60,
      target: spec.kind === 'udp' ? far.udp : far.tcp,
      ...this.instance.ends.near,
      ...(this.direct
        ? { watched_by: window }
        : { proxy: { address: entryOf(this.instance).address }, instance: this.id, usage_window: window }),
      ...PATIENCE,
      ...spec,
    };
  }

  /**
   * The same of a probe that runs beside another one of this way: what the system uses meanwhile is counted once, by the other.
   * @param {Spec} spec
   * @param {{ tcp: string, udp: string }} far
   */
  beside(spec, far) {
    const own = /** @type {Spec} */ (this.spec(spec, far));
    for (const name of ['instance', 'usage_window', 'watched_by']) delete own[name];
    return own;
  }

  /**
   * What a probe came to: its errors are the way's.
   * @param {import('../dataplane/meter.js').Ended} ended
   * @param {string[]} [expected] kinds that the link, or the probe's own limit, makes
   * @returns {Measured | null} null where nothing could be measured
   */
  taken(ended, expected = []) {
    if ('error' in ended) {
      this.why ??= ended.error.message;
      this.note({ [ended.error.kind]: ended.planned.operations });
      return null;
    }
    recordFarEnd(this.operation, ended.outcome);
    const { errors, usage, stopped } = ended.outcome;
    const counted = Object.fromEntries(Object.entries(errors).filter(([kind]) => !expected.includes(kind)));
    this.note(counted);
    if (usage) recordOwnInstances(usage.total.cpu_s);
    if (stopped === 'limit' && !expected.includes('cut')) recordCut();
    return ended;
  }

  /** @param {Record<string, number>} errors */
  note(errors) {
    for (const [kind, count] of Object.entries(errors)) this.errors[kind] = (this.errors[kind] ?? 0) + count;
    recordErrors(this.operation, knownErrors(errors));
  }

  /** The same setting of its link, whatever was set before. @param {string} items such as loss:2% */
  set(items) {
    ask('POST', `/instances/${this.id}/link`, { set: items });
  }

  /** As it was started but for this. @param {import('./points.js').Point} point */
  at(point) {
    this.restart();
    this.set(itemOf(point));
  }

  /** A link of this round trip, and of nothing else. @param {number} ms */
  onlyDelay(ms) {
    this.set(`${CLEAN},rtt:${ms}ms`);
  }

  /** As it was started. @param {string} [later] items of a timetable, as LINK has them */
  restart(later) {
    ask('POST', `/instances/${this.id}/link`, { restart: true, ...(later ? { later } : {}) });
  }

  /** What its link has done so far. @returns {Both} */
  counts() {
    return ask('GET', `/instances/${this.id}/link`);
  }

  /** What its link has done since it was started, in each tenth of a second. @returns {import('./over-time.js').OverTime} */
  overTime() {
    return ask('GET', `/instances/${this.id}/link/samples`);
  }

  /** Of the line that the run's link has. @param {'up' | 'down'} direction @returns {number | null} bits a second; null: it has none */
  rate(direction) {
    return this.plane.data.link?.about.settings[direction].rate_bit_s ?? null;
  }

  /**
   * With a far end that carries flows, which ends with what is done.
   * @template T
   * @param {(far: import('../dataplane/meter.js').Echo) => Steps<T>} use
   * @returns {Steps<T>}
   */
  *withFlows(use) {
    const { echo_cpus: cpus } = this.plane.environment.placement;
    const ends = endsOf(this.instance, { engine: 'blocking', cpus: cpusOf(cpus) });
    const echo = /** @type {import('./link.js').Ends} */ (ends)[this.direct ? 'far' : 'home'];
    try {
      return yield* use(echo);
    } finally {
      stopEcho(echo.id);
    }
  }

  /** How it ended. @returns {import('../protocols/outcome.js').Outcome} */
  ended() {
    const processes = tryAsk('GET', `/instances/${this.id}`)?.processes ?? [];
    return ofProbes(this.errors, this.direct ? [] : processes);
  }
}

/**
 * One probe on each way, all at once: no more ways than PROBES_AT_ONCE.
 * @param {Way[]} ways
 * @param {(way: Way) => Spec} specOf
 * @param {(way: Way, measured: Measured | null) => void} take
 * @param {string[]} [expected] kinds of errors that are none
 * @returns {Steps<void>}
 */
export function* atOnce(ways, specOf, take, expected) {
  const all = yield ways.map((way) => way.spec(specOf(way)));
  for (const [index, ended] of all.entries()) take(ways[index], ways[index].taken(ended, expected));
}

/**
 * With a far end for each way, as Way.withFlows.
 * @template T
 * @param {Way[]} ways
 * @param {(fars: Map<Way, import('../dataplane/meter.js').Echo>) => Steps<T>} use
 * @returns {Steps<T>}
 */
export const withFlows = ([first, ...others], use) =>
  first.withFlows((far) => {
    if (others.length === 0) return use(new Map([[first, far]]));
    return withFlows(others, (fars) => use(fars.set(first, far)));
  });

/** @param {Measured | null | undefined} measured @returns {any} what a flow brings besides (sidecar/README.md) */
export const flowOf = (measured) => /** @type {any} */ (measured?.outcome)?.flow ?? null;

/** So many ways are measured at once in any profile. */
export const PROBES_AT_ONCE = 8;
