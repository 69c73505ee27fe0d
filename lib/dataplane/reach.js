/**
 * Checks before the load whether the proxy carries the scenario's traffic: one tunnel with one request and, for datagrams,
 * one association with a few datagrams. A proxy that is down or refuses then ends set-up with a one-line message.
 */
import { tlsMend } from 'k6/x/windtunnel/environment';
import { mendAtSetUp } from '../errors.js';
import { measure } from '../meter.js';

/** `association`: one that can be opened, whether or not datagrams come back; `h2`: TCP to a far end that is a web server. @typedef {'tcp' | 'udp' | 'association' | 'h2'} Transport */

/** One returned datagram is enough: a lossy path is not a dead one. */
const DATAGRAMS = 8;
const DATAGRAM_TIMEOUT_MS = 800;

const PROBES = /** @type {const} */ ({
  tcp: { kind: 'handshake', first_reply: true, payload_bytes: 64, count: 1 },
  udp: { kind: 'udp', payload_bytes: 64, count: DATAGRAMS, timeout_ms: DATAGRAM_TIMEOUT_MS },
  association: { kind: 'udp', payload_bytes: 64, count: 1, timeout_ms: 100, stall_ms: 100 },
  h2: { kind: 'h2', count: 1 },
});

/** Faults of an association that could be opened. */
const OF_DATAGRAMS = ['lost', 'stalled', 'other_source', 'control_closed'];

/**
 * @param {Transport} transport
 * @param {import('../meter.js').Ended} ended
 * @returns {{ kind: string, message: string } | null} null: the traffic came through
 */
function failure(transport, ended) {
  if ('error' in ended) return ended.error;
  const { succeeded, errors, other_source: from } = ended.outcome;
  if (succeeded > 0) return null;
  if (from) return { kind: 'other_source', message: `the answers came from ${from}, which is not the relay` };
  const [kind = 'network'] = Object.keys(errors);
  return {
    kind,
    message: `none of ${DATAGRAMS} ${transport === 'udp' ? 'datagrams' : 'requests'} came back`,
  };
}

/** How a proxy that takes TLS answers a client without, and the other way round. */
const OF_TLS = ['tls', 'timeout', 'closed', 'connection_reset', 'socks_garbage'];

/**
 * Explains what is wrong, and how to fix it.
 * @param {string} url of the proxy
 * @param {{ kind: string, message: string }} found
 */
function explained(url, { kind, message }) {
  const mend = OF_TLS.includes(kind) ? tlsMend(url) : '';
  if (mend) return `TLS with the proxy: ${mend}`;
  return kind === 'tls' ? message : `${message}; ${mendAtSetUp(kind)}`;
}

/**
 * Whether the proxy asks for the configured login. A proxy may choose another method than the one offered.
 * @param {import('./scenario.js').Plane} plane
 * @returns {boolean | null} null: no login is configured, or no tunnel came up
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
 * @returns {string | null} one line with the proxy, the problem and the remedy; null: the proxy carries everything
 */
export function unreached(plane, transports) {
  const { proxy, namespace, far } = plane.proxied;
  for (const transport of transports) {
    const protocol = transport === 'tcp' || transport === 'h2' ? 'tcp' : 'udp';
    const target = plane.target(protocol, far);
    const found = failure(
      transport,
      measure({ ...PROBES[transport], target, proxy, ...(namespace && { namespace }) }),
    );
    if (found && !(transport === 'association' && OF_DATAGRAMS.includes(found.kind))) {
      const { url } = plane.environment;
      return `${url} carries no ${protocol.toUpperCase()} to ${target}: ${explained(url, found)}`;
    }
  }
  return null;
}
