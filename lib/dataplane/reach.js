/**
 * Before the load: does the proxy carry what the scenario will send? One tunnel with one request, and for
 * datagrams one association with a few of them, so that a proxy that is down or refuses ends set-up with one line.
 */
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
      const mend = mendAtSetUp(found.kind);
      return `${plane.environment.url} carries no ${transport.toUpperCase()} to ${target}: ${found.message}; ${mend}`;
    }
  }
  return null;
}
