/**
 * The link between the two ends of a pair: the variable LINK, the link's part of a start request, its ends, and its
 * calibration on this machine. docs/explanation/link.md
 */
import { given, readBy } from './variables.js';
import { ask, startEcho } from './meter.js';
import { currentProfile } from './profiles.js';

/**
 * @typedef {Pick<import('../types/sidecar.d.ts').Link, 'text' | 'title' | 'seed' | 'mtu' | 'settings' | 'near' | 'far'>} About
 * @typedef {import('../types/sidecar.d.ts').Figure} Figure
 * @typedef {import('../types/sidecar.d.ts').Calibration} Calibration
 * @typedef {{ about: About, calibration: Calibration }} Calibrated
 *
 * @typedef {{ instance: string, name: string }} Namespace
 * @typedef {{ near: { namespace: Namespace }, far: import('./meter.js').Echo, home: import('./meter.js').Echo }} Ends `near`
 *   is the probe's end, `far` the far end as a direct probe reaches it, `home` the far end as the proxy's server reaches it:
 *   some protocols carry traffic only to the server's loopback addresses
 */

/** Time limit for calibrating a link. A deep queue and a long delay take the most time. */
const CALIBRATION_MOST_MS = 120_000;

/**
 * The variable LINK, if the registry says that the scenario reads it.
 * @param {string} scenario as SYSTEM/SCENARIO
 * @param {string} [fallback] default; loopback unless given
 */
export const linkOf = (scenario, fallback = '') =>
  readBy('LINK', scenario) ? (given('LINK') ?? fallback) : '';

/** The link's part of a start request. @param {string} text */
export const wantedLink = (text) => (text ? { link: { text } } : {});

/**
 * In setup(): starts a new link with these settings, measures it and stops it. A smoke run sends fewer packets, within the same bounds.
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

/** Additional time limit for set-up, s. @param {string | undefined} text */
export const calibrationSeconds = (text) => (text ? CALIBRATION_MOST_MS / 1000 : 0);

/** Round-trip time, s; 0 without a link. @param {Pick<Calibrated, 'about'> | null | undefined} link of a run's data */
export const rttSeconds = (link) =>
  link ? (link.about.settings.up.delay_ns + link.about.settings.down.delay_ns) / 1e9 : 0;

/** Probability that a packet or its answer is lost; 0 without a link. @param {Pick<Calibrated, 'about'> | null | undefined} link */
export const lossBothWays = (link) =>
  link ? 1 - (1 - link.about.settings.up.loss) * (1 - link.about.settings.down.loss) : 0;

/** Number of unrecorded round trips before the measurement; fewer over a link, where each takes long. @param {unknown} link of a run's data */
export const warmupOver = (link) => (link ? 2 : 10);

/** Round trips of a link within which any working system answers, even with a full queue and retransmissions. */
const ROUND_TRIPS_MOST = 15;

/** Round trips of a link after which both ends have closed a turn's connections, also if a packet is lost. */
const CLOSING_ROUND_TRIPS = 5;

/** Time after the last probe until both ends have closed, s; 0 without a link. @param {Pick<Calibrated, 'about'> | null | undefined} link of a run's data */
export const closingSeconds = (link) => CLOSING_ROUND_TRIPS * rttSeconds(link);

/** Average number of sequential round trips that an operation may take. */
const ROUND_TRIPS_EACH = 5;
const LIMIT_S = 60;
/** The sidecar's limit, s. */
const LIMIT_MOST_S = 3600;

/** Time limit for a probe of sequential operations over a link, s. @param {Calibrated} link @param {number} count */
export const limitOver = (link, count) =>
  Math.min(LIMIT_MOST_S, Math.ceil(LIMIT_S + count * ROUND_TRIPS_EACH * rttSeconds(link)));

/**
 * Extends timeouts that suit loopback by the round trips of a link.
 * @template {Record<string, unknown>} Timeouts
 * @param {Timeouts} timeouts ms
 * @param {Pick<Calibrated, 'about'> | null | undefined} link of a run's data
 * @param {number} [roundTrips] of the link to add
 * @returns {Timeouts}
 */
export const patient = (timeouts, link, roundTrips = ROUND_TRIPS_MOST) => {
  const extra = Math.ceil(rttSeconds(link) * roundTrips * 1000);
  return /** @type {Timeouts} */ (
    Object.fromEntries(Object.entries(timeouts).map(([name, ms]) => [name, Number(ms) + extra]))
  );
};

/**
 * The ends of an instance that was started over a link. The far end is new, and ends with the instance.
 * @param {any} instance from the sidecar's API
 * @param {object} [spec] of the far end, sidecar/README.md
 * @returns {Ends | null} null without a link
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

/** Address on which the far end listens: all addresses. */
const EVERYWHERE = '0.0.0.0';
const HOME = '127.0.0.1';

/** An echo server under a certain address. @param {string} address @param {import('./meter.js').Echo} echo */
const placedAt = (address, { id, tcp, udp }) => ({
  id,
  tcp: `${address}:${portOf(tcp)}`,
  udp: `${address}:${portOf(udp)}`,
});

/** @param {string} address */
const portOf = (address) => address.split(':').pop();
