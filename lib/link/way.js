/** A way over a link, through a row's client and server or directly, and the results of its probes. */
import { ask, stopEcho, tryAsk } from '../meter.js';
import { cpusOf } from '../dataplane/environment.js';
import { knownErrors, recordCut, recordErrors, recordFarEnd } from '../dataplane/probe-operation.js';
import { withKills } from '../protocols/limited.js';
import { ofProbes } from '../protocols/outcome.js';
import { entryOf } from '../protocols/way.js';
import { endsOf } from '../link.js';
import { itemOf } from './points.js';

/**
 * @typedef {import('../meter.js').Measured} Measured
 * @typedef {Record<string, unknown>} Spec of a probe (sidecar/README.md)
 * @typedef {Pick<import('../../types/sidecar.d.ts').Link, 'up' | 'down'>} Both
 */
/**
 * @template T
 * @typedef {import('./lockstep.js').Steps<T>} Steps
 */

/** Settings of a link that has only a delay. */
const CLEAN = 'rate:none,loss:0%,jitter:0ms,reorder:0%,duplicate:0%,corrupt:0%,dead:no';
/** Timeouts of probes, ms: any working system is faster over each preset. */
const PATIENCE = { timeout_ms: 20_000, handshake_timeout_ms: 20_000 };

export class Way {
  /**
   * @param {import('../dataplane/scenario.js').Plane} plane
   * @param {any} instance started over a link, with its `ends`
   * @param {string} operation under which failures are recorded
   * @param {{ direct?: boolean }} [about] direct: past the client and the server
   */
  constructor(plane, instance, operation, { direct = false } = {}) {
    this.plane = plane;
    this.instance = instance;
    this.operation = operation;
    this.direct = direct;
    /** @type {Record<string, number>} by kind */
    this.errors = {};
    /** @type {string | null} the first reason why something could not be measured */
    this.why = null;
  }

  get id() {
    return this.instance.id;
  }

  /**
   * Completes a probe's spec for this way.
   * @param {Spec} spec
   * @param {{ tcp: string, udp: string }} [far] default: the instance's own far end
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
   * spec() for a probe that runs beside another probe of this way. Only the other probe measures the system's use.
   * @param {Spec} spec
   * @param {{ tcp: string, udp: string }} far
   */
  beside(spec, far) {
    const probeSpec = /** @type {Spec} */ (this.spec(spec, far));
    for (const name of ['instance', 'usage_window', 'watched_by']) delete probeSpec[name];
    return probeSpec;
  }

  /**
   * Takes a probe's result and adds its errors to the way's errors.
   * @param {import('../meter.js').Ended} ended
   * @param {string[]} [expected] kinds that the link, or the probe's own limit, causes
   * @returns {Measured | null} null: nothing could be measured
   */
  taken(ended, expected = []) {
    if ('error' in ended) {
      this.why ??= ended.error.message;
      this.note({ [ended.error.kind]: ended.planned.operations });
      return null;
    }
    recordFarEnd(this.operation, ended.outcome);
    const { errors, stopped } = ended.outcome;
    const counted = Object.fromEntries(Object.entries(errors).filter(([kind]) => !expected.includes(kind)));
    this.note(counted);
    if (stopped === 'limit' && !expected.includes('cut')) recordCut();
    return ended;
  }

  /** @param {Record<string, number>} errors */
  note(errors) {
    for (const [kind, count] of Object.entries(errors)) this.errors[kind] = (this.errors[kind] ?? 0) + count;
    recordErrors(this.operation, knownErrors(errors));
  }

  /** Changes a setting of the link. @param {string} items such as loss:2% */
  set(items) {
    ask('POST', `/instances/${this.id}/link`, { set: items });
  }

  /** Resets the link, and then changes one setting. @param {import('./points.js').Point} point */
  at(point) {
    this.restart();
    this.set(itemOf(point));
  }

  /** Sets a round trip, and removes all other effects. @param {number} ms */
  onlyDelay(ms) {
    this.set(`${CLEAN},rtt:${ms}ms`);
  }

  /** Resets the link. @param {string} [later] items of a timetable, in the format of LINK */
  restart(later) {
    ask('POST', `/instances/${this.id}/link`, { restart: true, ...(later ? { later } : {}) });
  }

  /** Counts of the link so far. @returns {Both} */
  counts() {
    return ask('GET', `/instances/${this.id}/link`);
  }

  /** Samples of the link since its start, one per tenth of a second. @returns {import('./over-time.js').OverTime} */
  overTime() {
    return ask('GET', `/instances/${this.id}/link/samples`);
  }

  /** Rate of the run's link. @param {'up' | 'down'} direction @returns {number | null} bits per second; null: unlimited */
  rate(direction) {
    return this.plane.data.link?.about.settings[direction].rate_bit_s ?? null;
  }

  /**
   * Calls `use` with a new far end that supports flows, and stops the far end afterwards.
   * @template T
   * @param {(far: import('../meter.js').Echo) => Steps<T>} use
   * @returns {Steps<T>}
   */
  *withFlows(use) {
    const { echo_cpus: cpus } = this.plane.environment.placement;
    const ends = endsOf(this.instance, { engine: 'blocking', cpus: cpusOf(cpus) });
    const echo = /** @type {import('../link.js').Ends} */ (ends)[this.direct ? 'far' : 'home'];
    try {
      return yield* use(echo);
    } finally {
      stopEcho(echo.id);
    }
  }

  /** The outcome of the way. @returns {import('../protocols/outcome.js').Outcome} */
  ended() {
    if (this.direct) return ofProbes(this.errors, []);
    const state = tryAsk('GET', `/instances/${this.id}`);
    return withKills(ofProbes(this.errors, state?.processes ?? []), [state]);
  }
}

/**
 * Runs one probe on each way at the same time. There may be at most PROBES_AT_ONCE ways.
 * @param {Way[]} ways
 * @param {(way: Way) => Spec} specOf
 * @param {(way: Way, measured: Measured | null) => void} take
 * @param {string[]} [expected] kinds that are not errors
 * @returns {Steps<void>}
 */
export function* atOnce(ways, specOf, take, expected) {
  const all = yield ways.map((way) => way.spec(specOf(way)));
  for (const [index, ended] of all.entries()) take(ways[index], ways[index].taken(ended, expected));
}

/**
 * Way.withFlows() for several ways: a new far end for each.
 * @template T
 * @param {Way[]} ways
 * @param {(fars: Map<Way, import('../meter.js').Echo>) => Steps<T>} use
 * @returns {Steps<T>}
 */
export const withFlows = ([first, ...others], use) =>
  first.withFlows((far) => {
    if (others.length === 0) return use(new Map([[first, far]]));
    return withFlows(others, (fars) => use(fars.set(first, far)));
  });

/** @param {Measured | null | undefined} measured @returns {any} results of a flow probe (sidecar/README.md) */
export const flowOf = (measured) => /** @type {any} */ (measured?.outcome)?.flow ?? null;

/** Maximum number of ways measured at once, in any profile. */
export const PROBES_AT_ONCE = 8;
