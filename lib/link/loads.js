/** Latency under a load: the probes of a way, and the figures computed from their samples. */
import { firstReply } from '../meter.js';
import { spreadOf } from '../spread.js';
import { queueFrom } from './over-time.js';
import { mbitBetween } from './recovery.js';
import { trimmedMean } from './rpm.js';
import { flowOf } from './way.js';

/** Requests per second on each open tunnel. */
const REQUESTS_PER_S = 10;
/** New tunnels per second: few enough to be no load. */
const NEW_PER_S = 4;
/** The largest number of new tunnels that are opening at once. */
const NEW_AT_ONCE = 32;
/** Kinds that a full queue causes by delay or by repeated loss. They are results, not errors of the row. */
const LATE = ['timeout', 'cut'];

/**
 * @typedef {import('../meter.js').Ended} Ended
 * @typedef {import('../meter.js').Measured} Measured
 *
 * @typedef {object} Load the background load of a latency measurement
 * @property {string} name
 * @property {string} title
 * @property {'neither' | 'up' | 'down'} direction
 * @property {number} transfers at once, each on its own tunnel
 *
 * @typedef {object} Sizes
 * @property {number} warmup_s
 * @property {number} seconds
 * @property {number} tail_s how long the load continues after the last request, so that the request does not find an empty queue
 *
 * @typedef {{ from: number, to: number }} Span ms since 1970
 *
 * @typedef {object} Trips of requests whose intended start is in the measured part
 * @property {number | null} ms mean without the slowest 5 %; null if more than 5 % failed
 * @property {number | null} p50 ms
 * @property {number | null} most ms
 * @property {number} samples
 * @property {number} failed over the whole time
 * @property {number} outlasted requests that ended after the load; a longer load would have delayed them more
 *
 * @typedef {{ series: Pick<Measured, 'values' | 'ends'>, late: Record<string, number> }} Recorded of the loaded tunnels; late: counts by kind
 *
 * @typedef {object} Cell a way under a load
 * @property {number | null} goodput Mbit/s of all transfers; null: no load
 * @property {number} died tunnels of the transfers that died
 * @property {number | null} queue_ms longest queueing delay of the link; null for a line without a rate
 * @property {Trips | null} same on the loaded tunnels; null: no load
 * @property {Trips} kept on an otherwise idle tunnel that was opened before the load
 * @property {Trips} fresh until the first reply of a new tunnel
 */

/**
 * Loads from most upwards to most downwards, with the idle state in the middle, so that they form an axis.
 * @param {number[]} transfers how many at once
 * @returns {Load[]}
 */
export function loadsOf(transfers) {
  const rising = [...new Set(transfers)].sort((a, b) => a - b);
  const of = (/** @type {'up' | 'down'} */ direction) =>
    rising.map((count) => ({
      name: `${direction}_${count}`,
      title: `${count} ${direction}`,
      direction,
      transfers: count,
    }));
  const rest = { name: 'rest', title: 'at rest', direction: /** @type {const} */ ('neither'), transfers: 0 };
  return [...of('up').reverse(), rest, ...of('down')];
}

/** @param {{ ms: number, end: number }[]} samples @param {number} failed @param {number} [over] end of the load @returns {Trips} */
export function tripsOf(samples, failed, over = Infinity) {
  const values = samples.map(({ ms }) => ms);
  const spread = spreadOf(values);
  return {
    ms: trimmedMean(values, failed),
    p50: spread?.median ?? null,
    most: spread?.max ?? null,
    samples: values.length,
    failed,
    outlasted: samples.filter(({ end }) => end > over).length,
  };
}

/**
 * The samples that began within a span.
 * @param {{ values: number[], ends: number[] }} series ns, and ms since 1970
 * @param {Span} span
 * @returns {{ ms: number, end: number }[]} end: ms since 1970
 */
export const begunIn = ({ values, ends }, { from, to }) =>
  values
    .map((ns, index) => ({ ms: ns / 1e6, end: ends[index] }))
    .filter(({ ms, end }) => end - ms >= from && end - ms < to);

/**
 * Runs a load, and sends requests at the same time: on a tunnel opened before the load, and on new tunnels.
 * @param {import('./way.js').Way} way
 * @param {import('../meter.js').Echo} far a far end that supports flows
 * @param {Load} load
 * @param {Sizes} sizes
 * @param {string} [congestion] congestion control of the sockets at both ends
 * @returns {import('./lockstep.js').Steps<{ cell: Cell, recorded: Recorded | null }>} recorded: null without a load, or if nothing was measured
 */
export function* besideLoad(way, far, load, sizes, congestion) {
  const { warmup_s, seconds, tail_s } = sizes;
  const limit_s = warmup_s + seconds + tail_s + 60;
  const [first, ...others] = specsOf(load, sizes, congestion).map((spec) => ({ ...spec, limit_s }));
  const specs = [way.spec(first, far), ...others.map((spec) => way.beside(spec, far))];
  const ended = yield specs;
  const [kept, , loaded] = ended.map((one) => way.taken(one, LATE));
  const flow = flowOf(loaded) ?? flowOf(kept);
  const from = flow ? flow.began_unix_us / 1000 + warmup_s * 1000 : 0;
  const span = { from, to: from + seconds * 1000 };
  const over = loaded ? overAt(loaded, span.to + tail_s * 1000) : Infinity;
  const trips = (/** @type {number} */ place, /** @type {string} */ series) =>
    tripsOfEnded(ended[place], series, span, over);
  const course = loaded && flow ? { bytes: flow.bytes, bucketS: flow.bucket_ms / 1000 } : null;
  const cell = {
    goodput: course && mbitBetween(course, warmup_s, warmup_s + seconds),
    died: flowOf(loaded)?.tunnels.filter((/** @type {any} */ { died }) => died).length ?? 0,
    queue_ms: flow ? queueMs(way, load, flow, sizes) : null,
    same: load.transfers > 0 ? trips(2, 'round_trip') : null,
    kept: trips(0, 'round_trip'),
    fresh: trips(1, 'total'),
  };
  return { cell, recorded: loaded ? recordedOf(loaded, span) : null };
}

/**
 * The samples of an operation: requests of the measured part, and all late requests.
 * @param {Measured} loaded @param {Span} span @returns {Recorded}
 */
export function recordedOf({ outcome, values, ends }, span) {
  const samples = begunIn({ values: values.round_trip ?? [], ends: ends.round_trip ?? [] }, span);
  return {
    series: {
      values: { round_trip: samples.map(({ ms }) => ms * 1e6) },
      ends: { round_trip: samples.map(({ end }) => end) },
    },
    late: Object.fromEntries(Object.entries(outcome.errors).filter(([kind]) => LATE.includes(kind))),
  };
}

/** End of a load: its tunnels are full until their last answer. @param {Measured} loaded @param {number} planned @returns {number} ms since 1970 */
const overAt = ({ ends }, planned) =>
  (ends.round_trip ?? []).reduce((last, end) => Math.max(last, end), planned);

/** @param {Load} load @param {Sizes} sizes @param {string} [congestion] */
function specsOf({ direction, transfers }, { warmup_s, seconds, tail_s }, congestion) {
  const flow = { warmup_s, seconds, requests_per_s: REQUESTS_PER_S, ...(congestion ? { congestion } : {}) };
  const kept = { kind: 'flow', flow: { ...flow, direction: 'neither' } };
  const fresh = {
    ...firstReply(Math.round(NEW_PER_S * (warmup_s + seconds))),
    connections: NEW_AT_ONCE,
    loop: { open: { rate_per_s: NEW_PER_S } },
  };
  const loaded = {
    kind: 'flow',
    connections: transfers,
    flow: { ...flow, direction, seconds: seconds + tail_s },
  };
  return transfers > 0 ? [kept, fresh, loaded] : [kept, fresh];
}

/** @param {Ended} ended @param {string} series @param {Span} span @param {number} over @returns {Trips} */
function tripsOfEnded(ended, series, span, over) {
  if ('error' in ended) return tripsOf([], ended.planned.operations);
  const { outcome, values, ends } = ended;
  const failed = Object.values(outcome.errors).reduce((sum, count) => sum + count, 0);
  return tripsOf(begunIn({ values: values[series] ?? [], ends: ends[series] ?? [] }, span), failed, over);
}

/** @param {import('./way.js').Way} way @param {Load} load @param {any} flow @param {Sizes} sizes */
function queueMs(way, { direction }, { began_unix_us: began }, { warmup_s, seconds }) {
  const side = direction === 'up' ? 'up' : 'down';
  const samples = way.overTime();
  const count = Math.round((seconds * 1000) / samples.every_ms);
  const most = Math.max(...queueFrom(samples, side, began + warmup_s * 1e6, count));
  return waitMs(most, way.rate(side));
}

/** Queueing delay of a number of bytes. @param {number} bytes @param {number | null} bits per second @returns {number | null} ms; null for a line without a rate */
export const waitMs = (bytes, bits) => (bits ? (bytes * 8000) / bits : null);
