/** Measures the start of a proxy with a number of routing rules: time, memory, CPU time, and the connections after it. */
import { quantile } from 'k6/x/windtunnel/record';
import { now } from '../clock.js';
import { noteBegun, noteLeft, notePeaks } from '../left-open.js';
import { Operation } from '../operations.js';
import { openSystemWindow, usageOf } from '../sidecar.js';
import { dials } from './controlled.js';
import { heldNow } from './held.js';
import { RulesProxy } from './rules.js';

const MIB = 2 ** 20;

/**
 * @typedef {import('./rules.js').Plane} Plane
 * @typedef {{ connections: number, round_trips: number }} Sizes of one turn, after the start
 * @typedef {object} Figures of one turn of a level; null: not measured
 * @property {number} rules
 * @property {number} turn The first turn is 0.
 * @property {number | null} listen_ms From the start of the program to the first connection that it takes.
 * @property {number | null} start_ms From the start of the program to the far end's first byte.
 * @property {number | null} cpu_s CPU time of that
 * @property {number | null} own_mib Own memory after the connections, MiB.
 * @property {number | null} peak_mib Peak of resident memory until then, MiB.
 * @property {number | null} first_ms Time of the first connection, from dialling to the far end's first byte.
 * @property {number | null} connect_ms The same of the connections after it, median, by the far end's address.
 * @property {number | null} name_ms The same by the far end's name.
 * @property {number | null} trip_ms Round trip, median.
 */

/** @param {string} what @param {number} rules */
export const operationOf = (what, rules) => `${what}_${rules}`;

/** @type {Map<string, Operation>} of this VU */
const operations = new Map();

/** @param {string} name */
export function recorded(name) {
  const found = operations.get(name) ?? new Operation(name);
  operations.set(name, found);
  return found;
}

/** Peak of resident memory in a window over the whole start. @param {string | null} window @param {number} before bytes, before the program was there @returns {number | null} MiB; null: unknown, as the program needs less than that */
function peakOf(window, before) {
  const peak = usageOf(window)?.total.peak_rss_bytes ?? 0;
  return peak > before ? peak / MIB : null;
}

/** Starts the program, and records how long that takes. @param {RulesProxy} proxy @param {number} rules */
function timesOf(proxy, rules) {
  const began = now();
  const times = proxy.start();
  const operation = recorded(operationOf('start', rules));
  if (times.start_ms === null) {
    const why = proxy.ended() ?? 'no byte of the far end came back';
    operation.failure('connection_refused', began, now(), why);
  } else operation.success(began, now(), times.start_ms);
  return times;
}

/** @param {RulesProxy} proxy @param {number} rules @param {string | null} window */
function startOf(proxy, rules, window) {
  const before = heldNow(window);
  const peakBefore = usageOf(window)?.total.peak_rss_bytes ?? Infinity;
  const times = timesOf(proxy, rules);
  const held = times.start_ms === null ? null : heldNow(window);
  if (!held || !before) return { ...times, cpu_s: null, peak_mib: null };
  return {
    ...times,
    cpu_s: held.cpu_s - before.cpu_s,
    peak_mib: peakOf(window, peakBefore),
  };
}

/** @param {Plane} plane @param {RulesProxy} proxy @param {number} rules @param {Sizes} sizes */
function connectionsOf(plane, proxy, rules, { connections, round_trips: count }) {
  const via = { ...proxy.via, instance: proxy.instance.id, usage_window: plane.data.window };
  const once = (/** @type {string} */ what, /** @type {Record<string, unknown>} */ spec) =>
    plane.recorded([operationOf(what, rules)], plane.measure(via, spec));
  const target = plane.target('tcp');
  // The proxy must look up a name among its domains.
  const name = target.startsWith('127.0.0.1:') ? target.replace('127.0.0.1', 'localhost') : null;
  return {
    connect_ms: quantile([once('connect', dials(connections))], 'total'),
    name_ms:
      name === null ? null : quantile([once('name', { ...dials(connections), target: name })], 'total'),
    trip_ms: quantile([once('trip', { kind: 'tcp', count, warmup: 0 })], 'round_trip'),
  };
}

/**
 * Measures one level once, with a new process.
 * @param {Plane} plane @param {number} rules @param {number} turn @param {Sizes} sizes @returns {Figures}
 */
export function measureStart(plane, rules, turn, sizes) {
  const proxy = new RulesProxy(plane, rules, 'start', `${rules}-rules-${turn + 1}`);
  const { id, versions } = proxy.instance;
  try {
    const window = openSystemWindow(id);
    const started = startOf(proxy, rules, window);
    noteBegun(id);
    const after = started.start_ms === null ? NOTHING : connectionsOf(plane, proxy, rules, sizes);
    // A program may free memory after its start.
    const held = started.start_ms === null ? null : heldNow(window);
    notePeaks(id, usageOf(window));
    return { rules, turn, ...started, ...after, own_mib: held && held.anon_bytes / MIB };
  } finally {
    // Tunnels may outlive a reload, so that only starts are noted.
    noteLeft([{ name: `${rules} rules`, id, versions }]);
    proxy.end();
  }
}

const NOTHING = { connect_ms: null, name_ms: null, trip_ms: null };
