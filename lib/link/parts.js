/**
 * The measurements of ways over a link. Each runs on all ways at once, or on one way after the other if the ways would compete
 * for the machine. Each writes its figures into `figures` of the way's operation.
 */
import { quantile } from 'k6/x/windtunnel/record';
import { recordSeries } from '../dataplane/probe-operation.js';
import { CALL, jitterMs } from '../dataplane/call.js';
import { arrivalsOf, overAt, playedOf, stalledShare } from './player.js';
import { atOnce, flowOf, withFlows } from './way.js';

/**
 * @typedef {import('./way.js').Way} Way
 * @typedef {Record<string, number | null>} Figures
 * @typedef {(way: Way) => Figures} FiguresOf where to write a way's figures
 */

/** Bytes of the first reply through a new tunnel. */
const FIRST_BYTES = 64;
const PAGE = { bytes: 32 * 1024, objects: 16, tunnels: 6, fresh: true };
/** A later packet is useless for a call, ms. */
const CALL_TIMEOUT_MS = 2000;
export const VIDEO = { mbit: 5, segment_s: 0.5, ahead: 2 };
const SEGMENT_BYTES = (VIDEO.mbit * 1e6 * VIDEO.segment_s) / 8;
/** How long a video may continue after its last segment was due, s. */
const VIDEO_PATIENCE_S = 4;

/**
 * Time until the first payload returns through a new tunnel: the client's very first tunnel, and the fastest of the others.
 * @param {Way[]} ways
 * @param {number} count number of the other tunnels
 * @param {(way: Way, took: { first: number | null, further: number | null }) => void} take ms
 */
export const firstBytes = (ways, count, take) =>
  atOnce(
    ways,
    () => ({ kind: 'handshake', first_reply: true, payload_bytes: FIRST_BYTES, count: count + 1 }),
    (way, measured) => {
      const [first = null, ...others] = measured?.values.total ?? [];
      take(way, {
        first: first === null ? null : first / 1e6,
        further: others.length > 0 ? Math.min(...others) / 1e6 : null,
      });
    },
  );

/** Round trips on an otherwise idle way. These are the latencies of the operation. @param {Way[]} ways @param {number} count @param {FiguresOf} figuresOf */
export const atRest = (ways, count, figuresOf) =>
  atOnce(
    ways,
    () => ({ kind: 'tcp', payload_bytes: FIRST_BYTES, warmup: 1, count }),
    (way, measured) => {
      if (measured) recordSeries(way.operation, measured);
      figuresOf(way).rtt_ms = quantile([measured], 'round_trip');
    },
  );

/** @param {Way[]} ways @param {number} count @param {FiguresOf} figuresOf */
export const pages = (ways, count, figuresOf) =>
  atOnce(
    ways,
    () => ({ kind: 'fetch', fetch: PAGE, count }),
    (way, measured) => {
      figuresOf(way).page_ms = quantile([measured], 'total');
    },
  );

/**
 * A live video stream, and the bytes on the wire meanwhile. All of the video has arrived at the end, so the bytes are exact.
 * @param {Way[]} ways
 * @param {number} seconds
 * @param {FiguresOf} figuresOf
 * @returns {import('./way.js').Steps<void>}
 */
export function* video(ways, seconds, figuresOf) {
  const count = Math.ceil(seconds / VIDEO.segment_s);
  const before = new Map(ways.map((way) => [way, way.counts()]));
  yield* atOnce(
    ways,
    () => ({
      kind: 'fetch',
      fetch: { bytes: SEGMENT_BYTES },
      loop: { open: { rate_per_s: 1 / VIDEO.segment_s } },
      count,
      limit_s: seconds + VIDEO_PATIENCE_S,
    }),
    (way, measured) => {
      const figures = figuresOf(way);
      figures.stalled_share = null;
      if (!measured) return;
      const { outcome, values, ends } = measured;
      const arrivals = arrivalsOf({ values: values.total, ends: ends.total }, VIDEO.segment_s, count);
      const until = overAt(arrivals, seconds, outcome.duration_s);
      const played = playedOf(arrivals, { ...VIDEO, until_s: until });
      figures.stalled_share = stalledShare(played);
      figures.video_start_ms = played.start_s === null ? null : played.start_s * 1000;
      const whole = outcome.succeeded === count;
      figures.wire_per_byte = whole ? wireBytes(before.get(way), way.counts()) / outcome.bytes : null;
    },
    ['cut'],
  );
}

/** Bytes on the wire, both directions. @param {import('./way.js').Both | undefined} before @param {import('./way.js').Both} after */
const wireBytes = (before, { up, down }) =>
  up.sent_bytes + down.sent_bytes - (before ? before.up.sent_bytes + before.down.sent_bytes : 0);

/** A call: packets to the far end and back. @param {Way[]} ways @param {number} seconds @param {FiguresOf} figuresOf */
export const call = (ways, seconds, figuresOf) =>
  atOnce(
    ways,
    () => ({
      kind: 'udp',
      payload_bytes: CALL.bytes,
      loop: { open: { rate_per_s: CALL.rate } },
      count: Math.round(CALL.rate * seconds),
      window: CALL.rate * (CALL_TIMEOUT_MS / 1000),
      timeout_ms: CALL_TIMEOUT_MS,
      limit_s: seconds + 10,
    }),
    (way, measured) => {
      const figures = figuresOf(way);
      figures.call_lost_share = measured && 1 - measured.outcome.succeeded / measured.outcome.attempted;
      figures.call_jitter_ms = measured && jitterMs(measured.values.round_trip ?? []);
    },
    ['lost'],
  );

/**
 * The traffic that saturates a tunnel, for a probe.
 * @typedef {{ direction: 'up' | 'down', warmup_s: number, seconds: number, congestion?: string }} Flow
 */

/** @param {Flow} flow @param {import('../meter.js').Echo} far a far end that supports flows */
const fills = (flow, far) => ({
  kind: 'flow',
  target: far.tcp,
  flow: { requests_per_s: 0, ...flow },
  limit_s: flow.warmup_s + flow.seconds + 30,
});

/** Throughput; null if the tunnel died. @param {import('./way.js').Measured | null} measured @param {Flow} flow @returns {number | null} Mbit/s */
function mbitOf(measured, { seconds }) {
  if (!measured || flowOf(measured)?.tunnels.some((/** @type {any} */ { died }) => died)) return null;
  return (measured.outcome.bytes * 8) / seconds / 1e6;
}

/**
 * Throughput of one saturated tunnel, alone on the machine.
 * @param {Way} way
 * @param {import('../meter.js').Echo} far a far end that supports flows
 * @param {Flow} flow
 * @returns {import('./way.js').Steps<number | null>} Mbit/s of payload during `seconds`
 */
export function* goodput(way, far, flow) {
  const [ended] = yield [way.spec(fills(flow, far))];
  return mbitOf(way.taken(ended), flow);
}

/**
 * Throughput of one saturated tunnel on each of several ways at once. Each way has its own line.
 * @param {Way[]} ways
 * @param {Flow} flow
 * @param {(way: Way, mbit: number | null) => void} take
 */
export const goodputs = (ways, flow, take) =>
  withFlows(ways, (fars) =>
    atOnce(
      ways,
      (way) => fills(flow, /** @type {import('../meter.js').Echo} */ (fars.get(way))),
      (way, measured) => take(way, mbitOf(measured, flow)),
    ),
  );
