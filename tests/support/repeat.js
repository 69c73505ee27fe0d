/** Runs a row over a link that starts again with the same seed, and compares: some figures are equal, and others nearly equal. */
import { roundTripsOf } from '../../lib/link/slope.js';
import { rowsOf } from '../../lib/protocols/matrix.js';
import { Link } from './link.js';

/** Two delays of a link without other settings, ms. */
const DELAYS = [20, 120];
const ONLY_DELAY = 'rate:none,loss:0%,jitter:0ms';
/** The first tunnel may take more round trips. */
const TUNNELS = 4;
/** Datagrams there and back, past the pair, so that the link carries no other packets. */
const BATCH = {
  kind: 'udp',
  payload_bytes: 160,
  window: 100,
  timeout_ms: 2000,
  loop: { open: { rate_per_s: 200 } },
};

/**
 * @typedef {object} Sizes
 * @property {number} batches of datagrams
 * @property {number} datagrams of each
 * @property {number} warmup_s of a tunnel that is kept full
 * @property {number} seconds
 *
 * @typedef {object} Repeated
 * @property {number | null} roundTrips to the first byte of a new tunnel, noise included
 * @property {number[]} lost datagrams of each batch, by the link's own count: up and down in turn
 * @property {number} mbit payload of a tunnel that is kept full downwards
 * @property {number} ownLost packets that the link lost at random
 */

/**
 * @param {import('./rows.js').Sidecar} sidecar
 * @param {string} row of sing-box
 * @param {string} text of the link
 * @param {Sizes} sizes
 * @returns {Promise<Repeated | null>} null if this machine cannot have a link
 */
export async function repeated(sidecar, row, text, sizes) {
  const variables = rowsOf('sing-box').find((one) => one.row === row)?.variables;
  if (!variables) throw new Error(`there is no row ${row}`);
  const link = await Link.start(sidecar, text, variables);
  if (!link) return null;
  try {
    const lost = await lostOf(link, sizes);
    const roundTrips = await roundTripsThrough(link);
    const mbit = await goodputOf(link, sizes);
    return { roundTrips, lost, mbit, ownLost: ownOf(await link.counts()) };
  } finally {
    await link.stop();
  }
}

/** @param {Link} link @param {Sizes} sizes */
async function lostOf(link, { batches, datagrams }) {
  await link.restart();
  const lost = [];
  let before = { up: { lost: 0 }, down: { lost: 0 } };
  for (let batch = 0; batch < batches; batch += 1) {
    await link.probe({ ...BATCH, count: datagrams }, 'round_trip');
    const now = await link.counts();
    lost.push(now.up.lost - before.up.lost, now.down.lost - before.down.lost);
    before = now;
  }
  return lost;
}

/** @param {Link} link */
async function roundTripsThrough(link) {
  const timed = [];
  for (const rtt of DELAYS) {
    await link.set(`${ONLY_DELAY},rtt:${rtt}ms`);
    const { values } = await link.through({
      kind: 'handshake',
      first_reply: true,
      payload_bytes: 64,
      count: TUNNELS,
    });
    timed.push({ rtt_ms: rtt, took_ms: Math.min(...values.slice(1)) / 1e6 });
  }
  return roundTripsOf(timed[0], timed[1]);
}

/** @param {Link} link @param {Sizes} sizes */
async function goodputOf(link, { warmup_s: warmup, seconds }) {
  await link.restart();
  const flow = { direction: 'down', warmup_s: warmup, seconds };
  const { outcome } = await link.through({ kind: 'flow', flow }, 'round_trip');
  return (outcome.bytes * 8) / outcome.duration_s / 1e6;
}

/** @param {any} counts */
const ownOf = ({ up, down }) =>
  [up, down].reduce((sum, way) => sum + way.own_overrun + way.own_refused + way.own_unread, 0);
