/** Typical uses of a proxy, as probes of the sidecar. Sizes are of one user. */

const KIB = 1024;
const PAGE = { bytes: 32 * KIB, objects: 16, tunnels: 6, fresh: true };
/** Rate of a video in 1080p, Mbit/s, and its segments per second. */
const VIDEO_MBIT = 8;
const SEGMENTS_PER_S = 2;

/**
 * @typedef {object} Use
 * @property {string} title
 * @property {string} latencyIs
 * @property {string} series
 * @property {number} tunnels number of tunnels of one operation; it fails if one of them breaks
 * @property {(seconds: number) => Record<string, unknown>} spec of a probe of about this duration
 */

/** @param {number} rate operations per second @param {number} seconds */
const open = (rate, seconds) => ({
  loop: { open: { rate_per_s: rate } },
  count: Math.max(1, Math.round(rate * seconds)),
});

/** @type {Record<string, Use>} */
export const USES = {
  requests: {
    title: 'small requests, 100 a second over 20 tunnels, 512 bytes there and back',
    latencyIs: 'from the intended start of a request to its echo received',
    series: 'round_trip',
    tunnels: 1,
    spec: (seconds) => ({
      kind: 'concurrency',
      connections: 20,
      warmup: 20,
      payload_bytes: 512,
      ...open(100, seconds),
    }),
  },
  pages: {
    title: `pages, 2 a second: a document of ${PAGE.bytes / KIB} KiB down, then ${PAGE.objects - 1} objects as large, over ${PAGE.tunnels} new tunnels`,
    latencyIs:
      'from the intended start of a page, before its first tunnel, to the last byte of its last object',
    series: 'total',
    tunnels: PAGE.tunnels,
    spec: (seconds) => ({ kind: 'fetch', connections: 6, fetch: PAGE, ...open(2, seconds) }),
  },
  video: {
    title: `a video stream of ${VIDEO_MBIT} Mbit/s down, ${SEGMENTS_PER_S} segments a second over one tunnel`,
    latencyIs: 'from the intended request for a segment to its last byte',
    series: 'total',
    tunnels: 1,
    spec: (seconds) => ({
      kind: 'fetch',
      warmup: 1,
      fetch: { bytes: (VIDEO_MBIT * 1e6) / 8 / SEGMENTS_PER_S },
      ...open(SEGMENTS_PER_S, seconds),
    }),
  },
};
