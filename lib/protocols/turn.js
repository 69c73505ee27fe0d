/** One turn of one side: an instance of its own, all probes through it, and what they measured. */
import { ask, measure, startEcho } from '../dataplane/meter.js';
import { cpusOf } from '../dataplane/environment.js';
import { SAMPLES_MOST } from '../dataplane/load.js';
import { recordErrors, recordSeries, recordUse } from '../dataplane/probe-operation.js';
import { knownErrors } from '../dataplane/scenario.js';
import { request, usageOf } from '../sidecar.js';
import { CORRUPT, ofFailedStart, ofProbes } from './outcome.js';

/**
 * @typedef {object} Sizes how much one turn does
 * @property {number} handshakes
 * @property {number} round_trips
 * @property {number} datagrams
 * @property {number} mib of a transfer in writes of 64 KiB or 1 MiB; a quarter of it in writes of 1 KiB
 * @property {number[]} tunnels
 *
 * @typedef {import('../dataplane/scenario.js').Plane} Plane
 * @typedef {{ started: any } | { failed: import('./outcome.js').Outcome }} Started
 */

/** Where the far end is in the namespaces of testbeds/protocols.toml. */
const TAKEN = '198.19.0.2';
const MIB = 1024 * 1024;
/** The sidecar: this machine or user cannot run it. */
const CANNOT = 501;
const START_MOST_MS = 120_000;
const WRITES = { mbit_1k: 1024, mbit_64k: 64 * 1024, mbit_1m: MIB };
/** Requests of each tunnel while all are open. */
const REQUESTS_EACH = 5;
/** A datagram may be lost; a path that loses more than this share is broken. */
const LOST_MOST = 0.05;

/**
 * @param {import('./matrix.js').Row} row
 * @param {import('./sides.js').Side} side
 * @param {Plane} plane
 * @param {Record<string, string | number | boolean>} [more] variables of the testbed
 * @returns {Started}
 */
export function startSide(row, { engine, binary }, plane, more = {}) {
  const port = (/** @type {'tcp' | 'udp'} */ kind) => Number(plane.target(kind).split(':').pop());
  const targets =
    row.variables.inbound === 'direct' ? { target_tcp_port: port('tcp'), target_udp_port: port('udp') } : {};
  const { system_cpus: cpus } = plane.environment.placement;
  const variables = { ...row.variables, ...targets, ...more, engine, binary, cpus };
  const response = request('POST', '/testbeds/protocols/start', { variables }, START_MOST_MS);
  const body = /** @type {any} */ (response.json());
  if (response.status === 201) return { started: body };
  return { failed: ofFailedStart(body.error, binary, response.status === CANNOT) };
}

/** @param {Started} side */
export function stopSide(side) {
  if ('started' in side) ask('DELETE', `/instances/${side.started.id}`, undefined, 60_000);
}

/** Median of nanoseconds, in milliseconds. @param {number[] | undefined} series */
function medianMs(series) {
  if (!series || series.length === 0) return null;
  const sorted = [...series].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2e6;
}

/** @param {number[] | undefined} series ns @param {number} share */
function quantileMs(series, share) {
  if (!series || series.length === 0) return null;
  return [...series].sort((a, b) => a - b)[Math.ceil(series.length * share) - 1] / 1e6;
}

/** CPU seconds of probes and far ends, in the parts that were measured. @param {string | null} window @returns {number} */
const measuringCpu = (window) =>
  usageOf(window)?.processes.find(({ name }) => name === 'sidecar')?.cpu_s ?? NaN;

/** The probes of one turn through one instance. */
export class Turn {
  /**
   * @param {Plane} plane
   * @param {any} instance
   * @param {string} operation that its samples are recorded under
   */
  constructor(plane, instance, operation) {
    this.plane = plane;
    this.instance = instance;
    this.operation = operation;
    /** @type {Record<string, number>} */
    this.errors = {};
    /** @type {import('./compare.js').Turn} */
    this.figures = {};
    this.peakBytes = 0;
    /** @type {import('../dataplane/meter.js').Echo | undefined} the far end in the instance's namespaces; it ends with it */
    this.far = undefined;
    /** @type {string[]} what it could not carry at once */
    this.limits = [];
  }

  /**
   * @param {Record<string, unknown>} spec
   * @returns {import('../dataplane/meter.js').Measured | null}
   */
  probe(spec) {
    const { probe_cpus: cpus, wait } = this.plane.environment.placement;
    const measured = measure({
      cpus: cpusOf(cpus),
      wait,
      keep: SAMPLES_MOST,
      instance: this.instance.id,
      usage_window: this.plane.data.window,
      limit_s: 30,
      ...this.wayTo(spec.kind === 'udp' ? 'udp' : 'tcp'),
      ...spec,
    });
    if ('error' in measured) {
      if (spec.kind !== 'concurrency') this.note({ [measured.error.kind]: 1 });
      return null;
    }
    if (spec.kind !== 'concurrency') this.account(measured.outcome);
    return measured;
  }

  /**
   * Through SOCKS to the run's far end; where the client takes traffic otherwise, straight to where it takes it.
   * @param {'tcp' | 'udp'} kind
   */
  wayTo(kind) {
    const [scheme, address] = this.instance.outputs.DATAPLANE_URL.split('://');
    if (scheme === 'socks5') return { target: this.plane.target(kind), proxy: { address } };
    if (scheme === 'direct') return { target: address };
    const namespace = { instance: this.instance.id, name: 'client' };
    const { placement } = this.plane.environment;
    this.far ??= startEcho({
      host: TAKEN,
      engine: 'events',
      namespace: { ...namespace, name: 'server' },
      cpus: cpusOf(placement.echo_cpus),
    });
    return { target: this.far[kind], namespace };
  }

  /** @param {import('../dataplane/meter.js').Outcome} outcome */
  account({ errors, usage, attempted }) {
    const { lost = 0, ...others } = errors;
    this.note(others);
    if (lost > attempted * LOST_MOST) this.note({ lost });
    if (usage) this.peakBytes = Math.max(this.peakBytes, usage.total.peak_rss_bytes);
  }

  /** @param {Record<string, number>} errors */
  note(errors) {
    for (const [kind, count] of Object.entries(errors)) this.errors[kind] = (this.errors[kind] ?? 0) + count;
    recordErrors(this.operation, knownErrors(errors));
  }

  /** @param {Sizes} sizes @param {boolean} udp */
  measure(sizes, udp) {
    const { figures } = this;
    const handshake = this.probe({
      kind: 'handshake',
      first_reply: true,
      payload_bytes: 64,
      warmup: 2,
      count: sizes.handshakes,
    });
    figures.handshake_ms = medianMs(handshake?.values.total);
    const trips = this.probe({ kind: 'tcp', warmup: 20, count: sizes.round_trips });
    if (trips) {
      recordSeries(this.operation, trips.values.round_trip);
      recordUse(this.operation, trips.outcome);
    }
    figures.rtt_ms = medianMs(trips?.values.round_trip);
    figures.rtt_p95_ms = quantileMs(trips?.values.round_trip, 0.95);
    for (const [name, writeBytes] of Object.entries(WRITES)) this.transfer(name, writeBytes, sizes.mib);
    if (udp) this.datagrams(sizes.datagrams);
    figures.peak_rss_mib = this.peakBytes > 0 ? this.peakBytes / MIB : null;
    for (const tunnels of sizes.tunnels) this.tunnels(tunnels);
    const { processes } = ask('GET', `/instances/${this.instance.id}`);
    const { outcome, detail } = ofProbes(this.errors, processes);
    return { figures, outcome, detail: [detail, ...this.limits].filter(Boolean).join('; ') || null };
  }

  /** @param {string} name @param {number} writeBytes @param {number} mib */
  transfer(name, writeBytes, mib) {
    const bytes = Math.max(writeBytes, (writeBytes < 64 * 1024 ? mib / 4 : mib) * MIB);
    const transfer = { bytes, write_bytes: writeBytes, direction: 'down', every_byte: true };
    const { window } = this.plane.data;
    const before = measuringCpu(window);
    // xray says that a tunnel is there before it has opened it: the first transfer pays for that.
    const moved = this.probe({ kind: 'throughput', warmup: 1, count: 1, transfer });
    const outcome = moved?.outcome;
    const whole = outcome && outcome.succeeded === outcome.attempted && outcome.duration_s > 0;
    this.figures[name] = whole ? (outcome.bytes * 8) / outcome.duration_s / 1e6 : null;
    if (name !== 'mbit_64k') return;
    this.figures.measuring_cpus = whole ? (measuringCpu(window) - before) / outcome.duration_s : null;
    const cpu = outcome?.usage?.total.cpu_s;
    this.figures.cpu_s_per_gib = whole && cpu ? cpu / (outcome.bytes / (1024 * MIB)) : null;
  }

  /** @param {number} count */
  datagrams(count) {
    const sent = this.probe({ kind: 'udp', warmup: 5, count });
    this.figures.udp_rtt_ms = medianMs(sent?.values.round_trip);
    this.figures.udp_lost_share = sent ? 1 - sent.outcome.succeeded / sent.outcome.attempted : null;
  }

  /** How many a protocol carries at once is a property of it, and no error. @param {number} connections */
  tunnels(connections) {
    const open = this.probe({
      kind: 'concurrency',
      connections,
      payload_bytes: 256,
      warmup: connections,
      count: connections * REQUESTS_EACH,
    });
    const { tunnels, errors = {} } = open?.outcome ?? {};
    this.note(Object.fromEntries(Object.entries(errors).filter(([kind]) => CORRUPT.includes(kind))));
    const all = tunnels && tunnels.open === tunnels.asked && Object.keys(errors).length === 0;
    if (!all) this.limits.push(`of ${connections} tunnels at once ${tunnels?.open ?? 0} opened`);
    this.figures[`tunnels_${connections}_open_s`] = all ? tunnels.open_all_s : null;
    this.figures[`tunnels_${connections}_p95_ms`] = all ? quantileMs(open?.values.round_trip, 0.95) : null;
  }
}
