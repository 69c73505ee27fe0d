/** A proxy inside of a limit of memory: what it carries at each level. */
import { said, say } from 'k6/x/windtunnel/record';
import { order } from 'k6/x/windtunnel/difference';
import { proxyOf, tryFresh } from '../dataplane/fresh.js';
import { ask, stop } from '../meter.js';

/** The operation that records the transfers at the largest level. */
export const LARGEST = 'largest';
const NOTE = 'levels of memory';
const MIB = 2 ** 20;
const WRITE_BYTES = 65_536;

/**
 * @typedef {{ tunnels: number, mib: number, mbitPerS: number }} Load `mib` over each tunnel
 * @typedef {object} Turn one start at one level
 * @property {number} turn
 * @property {number} tunnels that brought all their bytes
 * @property {number | null} mbit_per_s of all tunnels together; null: nothing was carried
 * @property {number | null} killed processes that the kernel killed for memory; null: unknown
 * @property {number | null} throttled share of periods; null without a quota
 * @property {number | null} peak_mib of the control group; null: unknown
 * @typedef {{ mib: number, turns: Turn[] }} Level
 * @typedef {import('../../types/sidecar.d.ts').Limited} Limited
 */

/** The limits of a level: that memory, and the CPU of LIMITS. @param {number} mib */
export function limitsAt(mib) {
  const given = __ENV.LIMITS ?? '';
  if (given.includes('memory'))
    throw `LIMITS=${given}: footprint/small sets the memory itself: give LEVELS_MIB, and LIMITS for cpu alone, such as LIMITS=cpu:50%`;
  return [given, `memory:${mib}mib`].filter(Boolean).join(',');
}

/** The level of a round. All levels take turns in random order. @param {number[]} levels @param {number} index @param {string} runId */
export function levelAt(levels, index, runId) {
  const turn = Math.floor(index / levels.length);
  return { mib: levels[order(levels.length, turn + 1, runId)[index % levels.length]], turn };
}

/** @type {Record<string, Turn[]>} of this VU, the only one */
let measured = {};

/** @param {number} mib @param {Turn} turn */
function note(mib, turn) {
  // A repeat replaces the discarded turn.
  const others = (measured[mib] ?? []).filter((other) => other.turn !== turn.turn);
  measured = { ...measured, [mib]: [...others, turn] };
  say(NOTE, measured);
}

/** In handleSummary(). @param {number[]} levels @returns {Level[]} */
export const levelsNow = (levels) => {
  const all = said()[NOTE] ?? measured;
  return levels.map((mib) => ({ mib, turns: all[mib] ?? [] }));
};

/** @param {Limited} limits */
const effectsOf = (limits) => ({
  killed: limits.killed,
  throttled:
    limits.cpu_percent === null || limits.periods === 0 ? null : limits.throttled_periods / limits.periods,
  peak_mib: limits.peak_memory_bytes === null ? null : limits.peak_memory_bytes / MIB,
});

/** The probe of a load. @param {Load} load */
export const carrying = ({ tunnels, mib }) => ({
  kind: 'throughput',
  count: tunnels,
  connections: tunnels,
  warmup: 0,
  transfer: { bytes: mib * MIB, write_bytes: WRITE_BYTES, direction: 'down' },
});

/** The result of the probe, and the effects of the limits. @param {import('../meter.js').Ended} ended @param {Limited} limits @returns {Omit<Turn, 'turn'>} */
export function carriedOf(ended, limits) {
  const outcome = 'error' in ended ? null : ended.outcome;
  const carried = outcome && outcome.succeeded > 0 && outcome.duration_s > 0;
  return {
    tunnels: outcome?.succeeded ?? 0,
    mbit_per_s: carried ? (outcome.bytes * 8) / outcome.duration_s / 1e6 : null,
    ...effectsOf(limits),
  };
}

/** A level at which the testbed does not start. @param {number} killed @returns {Omit<Turn, 'turn'>} */
export const notStarted = (killed) => ({
  tunnels: 0,
  mbit_per_s: null,
  killed,
  throttled: null,
  peak_mib: null,
});

/**
 * Starts the testbed at a level, and carries the load through it.
 * @param {import('../dataplane/scenario.js').Plane<any>} plane
 * @param {{ mib: number, turn: number, largest: number }} level
 * @param {Load} load
 */
export function measureLevel(plane, { mib, turn, largest }, load) {
  const { found, window } = plane.data;
  const record = (/** @type {import('../meter.js').Ended} */ ended) =>
    mib === largest && plane.recorded([LARGEST], ended);
  const { used, refused, cause } = tryFresh({ ...found, limits: limitsAt(mib) }, {}, (instance) => {
    const via = { proxy: proxyOf(instance), instance: instance.id, usage_window: window };
    const ended = plane.measure(via, carrying(load));
    record(ended);
    return carriedOf(ended, ask('GET', `/instances/${instance.id}`).limits);
  });
  if (refused === null) return note(mib, { turn, .../** @type {Omit<Turn, 'turn'>} */ (used) });
  if (cause?.is !== 'killed_for_memory') return stop(`sidecar: ${refused}`);
  record({ error: { kind: 'network', message: refused }, planned: { operations: load.tunnels, seconds: 0 } });
  return note(mib, { turn, ...notStarted(cause.times) });
}

/** Whether one turn carried the load; null: unknown. @param {Turn} turn @param {Load} load */
function carriedIn({ tunnels, mbit_per_s: rate, killed }, load) {
  if (tunnels < load.tunnels || rate === null || rate < load.mbitPerS || (killed ?? 0) > 0) return false;
  return killed === null ? null : true;
}

/**
 * Whether a level carries the load; null: its turns differ, or some are missing.
 * @param {Level} level @param {{ turns: number, load: Load }} planned
 */
export function carries(level, { turns, load }) {
  const all = level.turns.map((turn) => carriedIn(turn, load));
  if (all.length < turns || new Set(all).size !== 1) return null;
  return all[0];
}

/**
 * The smallest level that carries the load, as do all above it.
 * @param {Level[]} levels ascending @param {{ turns: number, load: Load }} planned
 * @returns {number | false | null} false: none carries it; null: the largest cannot be decided
 */
export function smallestOf(levels, planned) {
  const fit = levels.map((level) => carries(level, planned));
  const below = fit.lastIndexOf(false);
  const unknown = fit.lastIndexOf(null);
  const first = Math.max(below, unknown) + 1;
  if (first < levels.length) return levels[first].mib;
  return below === levels.length - 1 ? false : null;
}
