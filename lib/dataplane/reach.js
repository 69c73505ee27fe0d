/**
 * Before the load: does the proxy carry what the scenario will send? One tunnel with one request, and for
 * datagrams one association with a few of them, so that a proxy that is down or refuses ends set-up with one line.
 */
import { tlsMend } from 'k6/x/windtunnel/environment';
import { mendAtSetUp } from '../errors.js';
import { measure } from './meter.js';

/** @typedef {'tcp' | 'udp'} Transport */

/** Any of them that comes back will do: a lossy way is no dead one. */
const DATAGRAMS = 8;
const DATAGRAM_TIMEOUT_MS = 800;

const PROBES = /** @type {const} */ ({
  tcp: { kind: 'handshake', first_reply: true, payload_bytes: 64, count: 1 },
  udp: { kind: 'udp', payload_bytes: 64, count: DATAGRAMS, timeout_ms: DATAGRAM_TIMEOUT_MS },
});

/**
 * @param {Transport} transport
 * @param {import('./meter.js').Ended} ended
 * @returns {{ kind: string, message: string } | null} null where it came through
 */
function failure(transport, ended) {
  if ('error' in ended) return ended.error;
  const { succeeded, errors } = ended.outcome;
  if (succeeded > 0) return null;
  const [kind = 'network'] = Object.keys(errors);
  return {
    kind,
    message: `none of ${DATAGRAMS} ${transport === 'udp' ? 'datagrams' : 'requests'} came back`,
  };
}

/** How a proxy that takes TLS answers a client without, and the other way round. */
const OF_TLS = ['tls', 'timeout', 'closed', 'connection_reset', 'socks_garbage'];

/**
 * What is wrong, and what mends it.
 * @param {string} url of the proxy
 * @param {{ kind: string, message: string }} found
 */
function explained(url, { kind, message }) {
  const mend = OF_TLS.includes(kind) ? tlsMend(url) : '';
  if (mend) return `TLS with the proxy: ${mend}`;
  return kind === 'tls' ? message : `${message}; ${mendAtSetUp(kind)}`;
}

/**
 * Whether the proxy asks for the login that is configured: a method that is offered is not the one that is chosen.
 * @param {import('./scenario.js').Plane} plane
 * @returns {boolean | null} null where none is configured, or where no tunnel tells
 */
export function asksForLogin(plane) {
  const { proxy, namespace, far } = plane.proxied;
  if (!proxy?.username) return null;
  const probe = { kind: 'handshake', payload_bytes: 64, count: 1, warmup: 0 };
  const ended = measure({
    ...probe,
    target: plane.target('tcp', far),
    proxy,
    ...(namespace && { namespace }),
  });
  if ('error' in ended || ended.outcome.succeeded === 0) return null;
  return ended.outcome.series.some(({ name, count }) => name === 'auth' && count > 0);
}

/**
 * @param {import('./scenario.js').Plane} plane
 * @param {readonly Transport[]} transports what the scenario sends
 * @returns {string | null} one line that names the proxy, what is wrong and the mend; null where all is carried
 */
export function unreached(plane, transports) {
  const { proxy, namespace, far } = plane.proxied;
  for (const transport of transports) {
    const target = plane.target(transport, far);
    const found = failure(
      transport,
      measure({ ...PROBES[transport], target, proxy, ...(namespace && { namespace }) }),
    );
    if (found) {
      const { url } = plane.environment;
      return `${url} carries no ${transport.toUpperCase()} to ${target}: ${explained(url, found)}`;
    }
  }
  return null;
}
