/** One turn of one side: all probes through its instance, and their figures. */
import { quantile } from 'k6/x/windtunnel/record';
import { firstReply, measure, startEcho, tryAsk } from '../meter.js';
import { cpusOf } from '../dataplane/environment.js';
import { earlyShare } from '../dataplane/claims.js';
import { SAMPLES_MOST } from '../dataplane/load.js';
import {
  knownErrors,
  recordCut,
  recordErrors,
  recordFarEnd,
  recordSeries,
  recordUse,
} from '../dataplane/probe-operation.js';
import { limitOver, lossBothWays, patient, warmupOver } from '../link.js';
import { atRest, closeWindow, openWindow, usageOf } from '../sidecar.js';
import { withLimits } from './limited.js';
import { CORRUPT, complained, ofProbes } from './outcome.js';
import { MIB, SHORT_BYTES } from './transfer.js';
import { FAR_HOST, entryOf, reachThrough } from './way.js';

/**
 * @typedef {object} Sizes numbers of operations in a turn
 * @property {number} handshakes
 * @property {number} round_trips of each call of `reach`
 * @property {number} datagrams
 *
 * @typedef {import('../dataplane/scenario.js').Plane} Plane
 * @typedef {import('../meter.js').Outcome & { measuring_s: number }} Moved a transfer, with the CPU time of probe and far end
 */

/** Size of a write in judged transfers, bytes. */
const WRITE_BYTES = 64 * 1024;
/**
 * Transfers that are not judged, by figure. `share` is the size relative to a judged transfer: small writes are slow.
 * @type {Record<string, { writeBytes: number, direction: 'down' | 'up', share: number }>}
 */
const OTHERS = {
  mbit_1k: { writeBytes: 1024, direction: 'down', share: 1 / 4 },
  mbit_1m: { writeBytes: MIB, direction: 'down', share: 1 },
  mbit_64k_up: { writeBytes: WRITE_BYTES, direction: 'up', share: 1 },
};
/** Timeouts on loopback, ms: any working system is faster. A side that never answers costs some of them. */
const PATIENCE = { timeout_ms: 2000, handshake_timeout_ms: 2000 };
/** Timeout of a datagram, ms, as in the sidecar. */
const DATAGRAM_PATIENCE = { timeout_ms: 300 };
/** Round trips of a link added to a datagram's timeout. A carrier may resend a datagram, but a later one is useless for a call. */
const DATAGRAM_ROUND_TRIPS = 5;
/** Time limit of a probe on loopback, s. A slower probe hangs. */
const LIMIT_S = 30;
/** Over a link, a MiB may take many seconds. */
const WARMUP_BYTES_OVER_LINK = 256 * 1024;
/** Total requests over all tunnels: enough for a 95th percentile. */
const TUNNEL_REQUESTS = 1000;
/** Seconds that processes are sampled while idle. */
const REST_S = 0.1;
/** CPU share (percent of one CPU) above which an idle process is reported, since it slows down everything beside it. */
const BUSY_AT_REST = 20;
/** Largest share of datagrams that a working path loses. Over a link, LOST_MOST_OF_LINK times the link's own loss is added. */
const LOST_MOST = 0.05;
const LOST_MOST_OF_LINK = 3;

/** @param {number} value @returns {number | null} */
const finite = (value) => (Number.isFinite(value) ? value : null);

/** CPU seconds of probes and far ends while probes measured. @param {string | null} window @returns {number} */
const measuringCpu = (window) =>
  usageOf(window)?.processes.find(({ name }) => name === 'sidecar')?.cpu_s ?? NaN;

/**
 * Adds the use of further hops to a probe's usage, including their warm-ups: a probe measures only the first hop.
 * @param {import('../sidecar.js').Usage | null | undefined} usage
 * @param {(string | null)[]} windows
 */
function addHops(usage, windows) {
  for (const window of usage ? windows : []) {
    const hop = usageOf(window)?.total;
    for (const figure of /** @type {const} */ (['cpu_s', 'peak_rss_bytes', 'peak_anon_bytes']))
      /** @type {import('../sidecar.js').Usage} */ (usage).total[figure] += hop ? hop[figure] : NaN;
  }
}

/**
 * The probes of one turn. Call `reach` first. If it returns true, call `bulk`, more `trips` and `extras`. Call `end` last. After
 * `moveTo` other instances, call `tunnels` and `end` again.
 */
export class Turn {
  /**
   * @param {Plane} plane
   * @param {any[]} instances one, or the hops of a chain in order
   * @param {string} operation under which samples are recorded
   */
  constructor(plane, instances, operation) {
    this.plane = plane;
    this.instances = instances;
    /** @type {import('../meter.js').Echo | undefined} far end in the instance's namespaces; it ends with the instance */
    this.far = undefined;
    this.operation = operation;
    this.attempted = 0;
    /** @type {Record<string, number>} */
    this.errors = {};
    /** @type {import('./compare.js').Turn} */
    this.figures = {};
    /** @type {(Moved | null)[]} transfers in writes of 64 KiB */
    this.bulks = [];
    /** @type {import('../meter.js').Measured[]} of round trips */
    this.roundTrips = [];
    /** Peak memory of all clients and servers together, bytes: resident (`rss`), and the part without pages of files (`anon`). */
    this.peak = { rss: 0, anon: 0 };
    /** CPU seconds of its processes while probes measured, without warm-ups; NaN if one probe has no value. */
    this.partsCpu = 0;
    /** @type {string[]} notes on tunnels that did not open, and on probes that were cut */
    this.limits = [];
    /** Whether a known fault explains that a process has ended. */
    this.mayEnd = false;
    this.patience = patient(PATIENCE, plane.data.link);
    this.patienceOfDatagrams = patient(DATAGRAM_PATIENCE, plane.data.link, DATAGRAM_ROUND_TRIPS);
  }

  /** Makes the following probes use other instances. @param {any[]} instances */
  moveTo(instances) {
    this.instances = instances;
    this.far = undefined;
  }

  /** The first hop. */
  get instance() {
    return this.instances[0];
  }

  /**
   * @param {Record<string, unknown>} spec
   * @returns {import('../meter.js').Measured | null}
   */
  probe(spec) {
    const { probe_cpus: cpus, wait } = this.plane.environment.placement;
    const { link, window } = this.plane.data;
    const operations = (Number(spec.warmup ?? 0) + Number(spec.count)) / Number(spec.connections ?? 1);
    const windows = this.instances.slice(1).map(({ id }) => openWindow(id));
    const measured = measure({
      cpus: cpusOf(cpus),
      wait,
      keep: SAMPLES_MOST,
      instance: this.instance.id,
      usage_window: window,
      limit_s: link ? limitOver(link, operations) : LIMIT_S,
      ...this.wayTo(spec.kind === 'udp' ? 'udp' : 'tcp'),
      ...spec,
    });
    windows.forEach(closeWindow);
    if ('error' in measured) {
      const { operations: planned } = measured.planned;
      if (spec.kind !== 'concurrency') this.note({ [measured.error.kind]: planned }, planned);
      return null;
    }
    const { outcome } = measured;
    recordFarEnd(this.operation, outcome);
    addHops(outcome.usage, windows);
    this.partsCpu += outcome.usage?.total.cpu_s ?? NaN;
    if (outcome.stopped === 'limit') {
      recordCut();
      this.limits.push(`its ${spec.kind} probe was cut at its time limit`);
    }
    if (spec.kind !== 'concurrency') this.account(outcome);
    return measured;
  }

  /** The path of a probe: through SOCKS to the run's far end, or straight to the client's own entry. @param {'tcp' | 'udp'} kind */
  wayTo(kind) {
    const { scheme, address } = entryOf(this.instance);
    if (scheme === 'socks5') return { ...reachThrough(this.instance, this.plane, kind), proxy: { address } };
    if (scheme === 'direct') return { target: address, far_end: this.plane.data.echo?.id };
    const namespace = { instance: this.instance.id, name: 'client' };
    const { placement } = this.plane.environment;
    this.far ??= startEcho({
      host: FAR_HOST,
      engine: 'events',
      namespace: { ...namespace, name: 'server' },
      cpus: cpusOf(placement.echo_cpus),
    });
    return { target: this.far[kind], namespace };
  }

  /** @param {import('../meter.js').Outcome} outcome */
  account({ errors, usage, attempted }) {
    const { lost = 0, late = 0, ...others } = errors;
    const most = LOST_MOST + LOST_MOST_OF_LINK * lossBothWays(this.plane.data.link);
    const broken = lost + late > attempted * most;
    this.note(
      { ...others, ...(broken && lost ? { lost } : {}), ...(broken && late ? { late } : {}) },
      attempted,
    );
    if (!usage) return;
    const { peak_rss_bytes: rss, peak_anon_bytes: anon } = usage.total;
    this.peak = { rss: Math.max(this.peak.rss, rss), anon: Math.max(this.peak.anon, anon) };
  }

  /** @param {Record<string, number>} errors @param {number} attempted */
  note(errors, attempted) {
    this.attempted += attempted;
    for (const [kind, count] of Object.entries(errors)) this.errors[kind] = (this.errors[kind] ?? 0) + count;
    recordErrors(this.operation, knownErrors(errors));
  }

  /** Samples all its processes while nothing is sent. */
  rest() {
    const all = this.instances.flatMap(({ id }) => atRest(id, REST_S) ?? []);
    if (all.length === 0) return;
    const sum = (/** @type {'cpu_percent' | 'wakeups_per_s'} */ figure) =>
      all.reduce((total, process) => total + process[figure], 0);
    this.figures.rest_cpu_percent = sum('cpu_percent');
    this.figures.rest_wakeups_per_s = sum('wakeups_per_s');
    if (this.figures.rest_cpu_percent >= BUSY_AT_REST)
      this.limits.push(
        `while idle, this row's processes used ${this.figures.rest_cpu_percent.toFixed(0)} % of a CPU`,
      );
  }

  /** Measures first replies and round trips. @param {Sizes} sizes @returns {boolean} whether any answer came */
  reach(sizes) {
    const handshake = this.probe({
      ...firstReply(sizes.handshakes),
      warmup: 2,
      ...this.patience,
    });
    this.figures.handshake_ms = quantile([handshake], 'total');
    this.figures.granted_early_share = earlyShare(handshake?.outcome.granted);
    this.trips(sizes.round_trips);
    return this.figures.handshake_ms !== null || this.figures.rtt_ms !== null;
  }

  /** Whether both round trips and transfers have succeeded so far. */
  carries() {
    return this.figures.rtt_ms !== null && this.figures.mbit_64k !== null;
  }

  /** Measures round trips. Figures combine all calls. @param {number} count */
  trips(count) {
    const trips = this.probe({
      kind: 'tcp',
      warmup: warmupOver(this.plane.data.link),
      count,
      ...this.patience,
    });
    if (trips) {
      recordSeries(this.operation, trips);
      recordUse(this.operation, trips.outcome);
      this.roundTrips.push(trips);
    }
    this.figures.rtt_ms = quantile(this.roundTrips, 'round_trip');
    this.figures.rtt_p95_ms = quantile(this.roundTrips, 'round_trip', 0.95);
  }

  /** Measures a transfer in writes of 64 KiB. Figures combine all calls. @param {number} bytes */
  bulk(bytes) {
    this.figures.mbit_64k ??= null;
    const moved = this.move(bytes);
    this.bulks.push(moved);
    const whole = this.bulks.filter((one) => one !== null);
    if (whole.length === 0) return;
    const sum = (/** @type {(one: Moved) => number} */ of) =>
      whole.reduce((total, one) => total + of(one), 0);
    const gib = sum(({ bytes: all }) => all) / (1024 * MIB);
    const seconds = sum(({ duration_s: s }) => s);
    const cpu = sum(({ usage }) => usage?.total.cpu_s ?? NaN);
    this.figures.mbit_64k = (gib * 1024 * MIB * 8) / seconds / 1e6;
    this.figures.measuring_cpus = finite(sum(({ measuring_s: s }) => s) / seconds);
    this.figures.cpu_s_per_gib = cpu > 0 ? finite(cpu / gib) : null;
    this.figures.peak_rss_mib = this.peak.rss / MIB || null;
    this.figures.peak_anon_mib = this.peak.anon / MIB || null;
  }

  /**
   * Measures other sizes of writes, uploads and datagrams.
   * @param {Pick<Sizes, 'datagrams'>} sizes
   * @param {number} bytes size of a transfer in writes of 64 KiB
   * @param {boolean} udp
   */
  extras(sizes, bytes, udp) {
    for (const name of Object.keys(OTHERS)) this.transfer(name, bytes);
    if (udp) this.datagrams(sizes.datagrams);
  }

  /** Whether a process of its instances has ended. */
  hasEnded() {
    return this.instances.some(({ id }) =>
      (tryAsk('GET', `/instances/${id}`)?.processes ?? []).some(
        (/** @type {{ exit: string | null }} */ { exit }) => exit !== null,
      ),
    );
  }

  /** The outcome on these instances. Call it last. */
  end() {
    const failed = Object.values(this.errors).reduce((sum, count) => sum + count, 0);
    this.figures.failed = failed;
    this.figures.failed_share = this.attempted > 0 ? failed / this.attempted : null;
    const states = this.instances.map(({ id }) => tryAsk('GET', `/instances/${id}`));
    const processes = states.flatMap((instance, hop) =>
      (instance?.processes ?? []).map((/** @type {any} */ process) => ({
        ...process,
        name: this.instances.length > 1 ? `${process.name} of hop ${hop + 1}` : process.name,
      })),
    );
    const ended = withLimits(this, states, ofProbes(this.errors, this.mayEnd ? [] : processes));
    const complaints = ended.outcome === 'measured' ? [] : states.map(complained);
    const detail = [ended.detail, ...this.limits, ...complaints].filter(Boolean).join('; ') || null;
    return { ...ended, detail };
  }

  /**
   * Transfers bytes. If the tunnel breaks, that is an error, and a second try measures the rate.
   * @param {number} bytes
   * @param {number} [writeBytes]
   * @param {'down' | 'up'} [direction]
   */
  move(bytes, writeBytes = WRITE_BYTES, direction = 'down') {
    return this.moveOnce(bytes, writeBytes, direction) ?? this.moveOnce(bytes, writeBytes, direction);
  }

  /**
   * @param {number} bytes
   * @param {number} writeBytes
   * @param {'down' | 'up'} direction
   * @returns {Moved | null} null if not all bytes arrived
   */
  moveOnce(bytes, writeBytes, direction) {
    const { window } = this.plane.data;
    const before = measuringCpu(window);
    // xray accepts a tunnel before it has opened it. The warm-up absorbs that delay.
    const transfer = {
      bytes,
      warmup_bytes: this.plane.data.link ? WARMUP_BYTES_OVER_LINK : MIB,
      write_bytes: writeBytes,
      direction,
      every_byte: true,
    };
    const spec = { kind: 'throughput', warmup: 1, count: 1, transfer, ...this.patience };
    const outcome = this.probe(spec)?.outcome;
    const whole = outcome && outcome.succeeded === outcome.attempted && outcome.duration_s > 0;
    return whole ? { ...outcome, measuring_s: measuringCpu(window) - before } : null;
  }

  /** Rate of a short transfer. @returns {number | null} bytes per second */
  rate() {
    const moved = this.move(this.plane.data.link ? MIB : SHORT_BYTES);
    return moved && moved.bytes / moved.duration_s;
  }

  /** @param {string} name of the figure @param {number} bytes of a judged transfer */
  transfer(name, bytes) {
    const { writeBytes, direction, share } = OTHERS[name];
    const moved = this.move(Math.max(1, Math.round((bytes * share) / MIB)) * MIB, writeBytes, direction);
    this.figures[name] = moved && (moved.bytes * 8) / moved.duration_s / 1e6;
  }

  /** @param {number} count */
  datagrams(count) {
    const sent = this.probe({ kind: 'udp', warmup: 5, count, ...this.patienceOfDatagrams });
    this.figures.udp_rtt_ms = quantile([sent], 'round_trip');
    this.figures.udp_lost_share = sent ? 1 - sent.outcome.succeeded / sent.outcome.attempted : null;
  }

  /**
   * Opens many tunnels at once. How many a protocol carries is a property, not an error. A process rarely returns memory, so the
   * memory is of processes that have only carried fewer tunnels before.
   * @param {number} connections
   */
  tunnels(connections) {
    const count = Math.max(connections, TUNNEL_REQUESTS);
    const open = this.probe({
      kind: 'concurrency',
      connections,
      payload_bytes: 256,
      warmup: connections,
      count,
    });
    const { tunnels, errors = {}, succeeded = 0, usage } = open?.outcome ?? {};
    const opened = tunnels?.open ?? 0;
    const kinds = Object.entries(errors);
    this.note(Object.fromEntries(kinds.filter(([kind]) => CORRUPT.includes(kind))), 0);
    const all = opened === connections && kinds.length === 0;
    if (!all) {
      const failed = kinds.map(([kind, times]) => `, ${times} × ${kind}`).join('');
      this.limits.push(`only ${opened} of ${connections} simultaneous tunnels opened${failed}`);
    }
    Object.assign(this.figures, {
      [`tunnels_${connections}_open`]: opened,
      // The share of tunnels that opened, times the share of answered requests over them.
      [`tunnels_${connections}_carried_share`]: (opened / connections) * (succeeded / count),
      [`tunnels_${connections}_anon_mib`]: usage ? usage.total.peak_anon_bytes / MIB : null,
      [`tunnels_${connections}_p95_ms`]: all ? quantile([open], 'round_trip', 0.95) : null,
    });
  }
}
