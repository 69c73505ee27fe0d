/**
 * The link between the two ends of a pair, as scripts use it: LINK, what a start is told of it, its ends, and what it is on this
 * machine. docs/explanation/link.md
 */
import { given, readBy } from '../variables.js';
import { ask, startEcho } from '../dataplane/meter.js';
import { currentProfile } from '../profiles.js';

/**
 * One direction, ns and bits a second; sidecar/README.md has the rest.
 * @typedef {{ delay_ns: number, jitter_ns: number, rate_bit_s: number | null, loss: number, [field: string]: unknown }} Side
 * @typedef {{ namespace: string, address: string, settings: Record<string, string | number | null> }} Place
 * @typedef {{ text: string, title: string, seed: number, mtu: number, settings: { up: Side, down: Side }, near: Place, far: Place }} About
 * @typedef {{ asked: number, measured: number, within: number, ok: boolean }} Figure
 * @typedef {{ delay_ms: Figure, rate_mbit_s: Figure | null, queue_ms: Figure | null, own_lost: number,
 *   loss: { sent: number, missed: number, counted: number, per_1000: Figure } }} Direction
 * @typedef {{ ok: boolean, wrong: string[], up: Direction, down: Direction, carries: { mbit_s: number, packets_s: number } }} Calibration
 *   one of the sidecar's; sidecar/README.md
 * @typedef {{ about: About, calibration: Calibration }} Calibrated
 *
 * @typedef {{ instance: string, name: string }} Namespace
 * @typedef {{ near: { namespace: Namespace }, far: import('../dataplane/meter.js').Echo, home: import('../dataplane/meter.js').Echo }} Ends where a
 *   probe is sent from, and the far end that it reaches directly; as a proxy's server has it at home: some protocols carry to its own
 *   loopback addresses alone
 */

/** To measure a link: one of a deep queue and a long way takes the most. */
const CALIBRATION_MOST_MS = 120_000;

/**
 * LINK, where the registry says that the scenario reads it.
 * @param {string} scenario as SYSTEM/SCENARIO
 * @param {string} [fallback] where it is not set; none unless given
 */
export const linkOf = (scenario, fallback = '') =>
  readBy('LINK', scenario) ? (given('LINK') ?? fallback) : '';

/** What the body of a start has of a link. @param {string} text */
export const wantedLink = (text) => (text ? { link: { text } } : {});

/**
 * In setup(): measures a link of its own that is made as the text says, and lets it go. A smoke takes fewer packets, within the same bounds.
 * @param {string} text
 * @returns {Calibrated}
 */
export function calibrated(text) {
  const { link, calibration } = ask(
    'POST',
    '/links/calibrate',
    { text, brief: currentProfile() === 'smoke' },
    CALIBRATION_MOST_MS,
  );
  const { title, seed, mtu, settings, near, far } = link;
  return { about: { text, title, seed, mtu, settings, near, far }, calibration };
}

/** What set-up takes longer. @param {string | undefined} text */
export const calibrationSeconds = (text) => (text ? CALIBRATION_MOST_MS / 1000 : 0);

/** From near to far and back, s; 0 without a link. @param {Pick<Calibrated, 'about'> | null | undefined} link of a run's data */
export const rttSeconds = (link) =>
  link ? (link.about.settings.up.delay_ns + link.about.settings.down.delay_ns) / 1e9 : 0;

/** Of what goes there and comes back, the share that a link loses; 0 without a link. @param {Pick<Calibrated, 'about'> | null | undefined} link */
export const lossBothWays = (link) =>
  link ? 1 - (1 - link.about.settings.up.loss) * (1 - link.about.settings.down.loss) : 0;

/** Round trips before those that count: over a link each takes one of its own. @param {unknown} link of a run's data */
export const warmupOver = (link) => (link ? 2 : 10);

/** In so many round trips of a link whatever works has answered, its full queue and what is lost and sent again included. */
const ROUND_TRIPS_MOST = 15;

/** Round trips of the link that an operation may take in the mean, one after the other. */
const ROUND_TRIPS_EACH = 5;
const LIMIT_S = 60;
/** The sidecar's own. */
const LIMIT_MOST_S = 3600;

/** How long a probe of so many operations, one after the other, may take over a link, s. @param {Calibrated} link @param {number} count */
export const limitOver = (link, count) =>
  Math.min(LIMIT_MOST_S, Math.ceil(LIMIT_S + count * ROUND_TRIPS_EACH * rttSeconds(link)));

/**
 * Timeouts of a probe that are short enough for loopback, and long enough for a link.
 * @template {Record<string, unknown>} Timeouts
 * @param {Timeouts} timeouts ms
 * @param {Pick<Calibrated, 'about'> | null | undefined} link of a run's data
 * @param {number} [roundTrips] of the link that are given more than on loopback
 * @returns {Timeouts}
 */
export const patient = (timeouts, link, roundTrips = ROUND_TRIPS_MOST) => {
  const extra = Math.ceil(rttSeconds(link) * roundTrips * 1000);
  return /** @type {Timeouts} */ (
    Object.fromEntries(Object.entries(timeouts).map(([name, ms]) => [name, Number(ms) + extra]))
  );
};

/**
 * The ends of an instance that was started over a link, with a far end of its own, which ends with the instance.
 * @param {any} instance as the sidecar tells it
 * @param {object} [spec] of the far end, sidecar/README.md
 * @returns {Ends | null} null where there is no link
 */
export function endsOf({ id, link }, spec = {}) {
  if (!link) return null;
  const namespace = { instance: id, name: link.far.namespace };
  const echo = startEcho({ host: EVERYWHERE, namespace, ...spec });
  return {
    near: { namespace: { instance: id, name: link.near.namespace } },
    far: placedAt(link.far.address, echo),
    home: placedAt(HOME, echo),
  };
}

/** On all addresses of the far end. */
const EVERYWHERE = '0.0.0.0';
const HOME = '127.0.0.1';

/** An echo server as it is reached by an address. @param {string} address @param {import('../dataplane/meter.js').Echo} echo */
const placedAt = (address, { id, tcp, udp }) => ({
  id,
  tcp: `${address}:${portOf(tcp)}`,
  udp: `${address}:${portOf(udp)}`,
});

/** @param {string} address */
const portOf = (address) => address.split(':').pop();
