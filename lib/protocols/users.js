/** What people do through a proxy, as probes of the sidecar; sizes are of one user. */

const KIB = 1024;
/** Bits a second of a video in 1080p. */
const VIDEO_MBIT = 8;
const VIDEO_CHUNK = 128 * KIB;

/**
 * @typedef {object} Use
 * @property {string} title
 * @property {string} latencyIs
 * @property {string} series
 * @property {(seconds: number) => Record<string, unknown>} spec of a probe that lasts about so long
 */

/** @param {number} rate operations a second @param {number} seconds */
const open = (rate, seconds) => ({
  loop: { open: { rate_per_s: rate } },
  count: Math.max(1, Math.round(rate * seconds)),
});

/** @type {Record<string, Use>} */
export const USES = {
  requests: {
    title: 'small requests, 20 tunnels, 100 a second of 512 bytes',
    latencyIs: 'from the intended start of a request to its echo received',
    series: 'round_trip',
    spec: (seconds) => ({
      kind: 'concurrency',
      connections: 20,
      warmup: 20,
      payload_bytes: 512,
      ...open(100, seconds),
    }),
  },
  pages: {
    title: 'pages, 2 a second, each a new tunnel with 16 KiB there and back',
    latencyIs: 'from the intended start of a new tunnel to its first 16 KiB back',
    series: 'total',
    spec: (seconds) => ({
      kind: 'handshake',
      first_reply: true,
      connections: 6,
      payload_bytes: 16 * KIB,
      ...open(2, seconds),
    }),
  },
  video: {
    title: `a video stream of ${VIDEO_MBIT} Mbit/s, in chunks of 128 KiB`,
    latencyIs: 'from the intended start of a chunk to all of it back',
    series: 'round_trip',
    spec: (seconds) => ({
      kind: 'tcp',
      payload_bytes: VIDEO_CHUNK,
      ...open((VIDEO_MBIT * 1e6) / 8 / VIDEO_CHUNK, seconds),
    }),
  },
};
