/**
 * Checks in set-up of what a proxy's answers mean: whether CONNECT is granted before the far end accepts (an early answer), and
 * whether the client's end (FIN) is passed on (half-close). Both are reported as notes, and judge nothing.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { endsOf } from '../link.js';
import { ask, measure, startEcho, stopEcho } from '../meter.js';

/** @typedef {'early_answer' | 'half_close'} Claim */

const TRIES = 10;
/** A port on which nobody listens (tcpmux). The direct control checks that. */
const NOBODY = ':1';

/** Both answers of the far end come later by this, so that the client's end is there before. */
const DELAY_MS = 150;
const FAR_END = { engine: 'events', faults: { delay_ms: DELAY_MS, tcp: { farewell: true } } };
const PATIENCE_MS = 3000;
/** Without a link, how long the end may take. Each run of a proxy that never passes the end on takes this long. */
const END_MS = 1000;

/** @param {import('./scenario.js').Via} via @param {Record<string, unknown>} spec */
function open({ proxy, namespace }, spec) {
  const probe = {
    kind: 'handshake',
    payload_bytes: 64,
    count: 1,
    handshake_timeout_ms: PATIENCE_MS,
    ...spec,
  };
  return measure({ ...probe, proxy, ...(namespace && { namespace }) });
}

/**
 * Opens tunnels to a port where nobody listens.
 * @param {import('./scenario.js').Plane} plane
 * @returns {string | null} null: no tunnel was granted
 */
function earlyAnswer(plane) {
  const target = plane.target('tcp', plane.proxied.far).replace(/:\d+$/, NOBODY);
  const control = open(plane.direct, { target });
  if (!('error' in control) || control.error.kind !== 'connection_refused')
    return `early answer: unknown, because ${target} does not refuse a connection`;
  const ended = open(plane.proxied, { target, count: TRIES });
  if ('error' in ended || ended.outcome.succeeded === 0) return null;
  return `early answer: ${ended.outcome.succeeded} of ${ended.outcome.attempted} tunnels to a port where nobody listens were granted, so the proxy answers CONNECT before the far end accepts: the time of CONNECT measures nothing, and the time to the first answer does`;
}

const MEANS = /** @type {Record<string, string>} */ ({
  closed: 'closes both ways: the answer after the client’s end was cut',
  connection_reset: 'closes both ways: the answer after the client’s end was cut',
  stalled: 'never passes FIN: the far end did not see the client’s end',
});

/**
 * Sends a payload and the end, to a separate far end.
 * @param {import('./scenario.js').Plane} plane
 * @param {import('./scenario.js').Data} data
 */
function halfClose(plane, { linkEnds }) {
  if (plane.environment.target.tcp) return 'half-close: unknown, because the far end is not Windtunnel’s';
  const ends = linkEnds && endsOf(ask('GET', `/instances/${__ENV.INSTANCE}`), FAR_END);
  const far = ends
    ? ends.far
    : startEcho({ host: plane.address === 'ipv6' ? '::1' : '127.0.0.1', ...FAR_END });
  const spec = {
    half_close: true,
    target: plane.target('tcp', far),
    timeout_ms: linkEnds ? PATIENCE_MS : END_MS,
  };
  const [direct, proxied] = [plane.direct, plane.proxied].map((via) => open(via, spec));
  stopEcho(far.id);
  if ('error' in direct)
    return `half-close: unknown, because it fails without the proxy: ${direct.error.message}`;
  if (!('error' in proxied)) return 'half-close: the proxy passes FIN, and the answer after it arrives';
  const { kind, message } = proxied.error;
  return `half-close: the proxy ${MEANS[kind] ?? `fails: ${message}`}`;
}

const CHECKS = { early_answer: earlyAnswer, half_close: halfClose };

/**
 * @param {Claim | undefined} claim
 * @param {import('./scenario.js').Plane} plane
 * @param {import('./scenario.js').Data} data
 */
export function checkClaim(claim, plane, data) {
  const note = claim && CHECKS[claim](plane, data);
  if (note) say(claim, note);
}

/** The notes of the run on these checks. @returns {string[]} */
export const aboutClaims = () =>
  Object.keys(CHECKS)
    .map((claim) => said()[claim])
    .filter(Boolean);
