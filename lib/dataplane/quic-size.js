/**
 * Whether datagrams of the size that QUIC needs come back. A proxy may carry small datagrams and none of this size: QUIC then
 * does not work through it.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { sectionOf } from '../section.js';

/** A QUIC client's first datagrams have at least this size (RFC 9000, 14). */
export const QUIC_BYTES = 1200;

const TRIES = 4;
const TIMEOUT_MS = 800;
const NOTE = 'datagrams of QUIC size';

/** @typedef {{ proxied: number, direct: number }} Back datagrams that came back */

/** In setup(): sends a few such datagrams each way. @param {import('./scenario.js').Plane<any>} plane */
function tryQuicSize(plane) {
  const came = (/** @type {import('./scenario.js').Via} */ via) => {
    const ended = plane.measure(
      { ...via, instance: null, usage_window: null, watched_by: null },
      {
        kind: 'udp',
        payload_bytes: QUIC_BYTES,
        count: TRIES,
        window: TRIES,
        warmup: 0,
        timeout_ms: TIMEOUT_MS,
      },
    );
    return 'error' in ended ? 0 : ended.outcome.succeeded;
  };
  say(NOTE, { proxied: came(plane.proxied), direct: came(plane.direct) });
}

/** The section of tryQuicSize(); null if the run has not tried. */
function quicSizeSection() {
  /** @type {Back | undefined} */
  const back = said()[NOTE];
  if (!back) return null;
  const none = back.proxied === 0 && back.direct > 0;
  return sectionOf({
    name: 'quic_size',
    title: 'Datagrams of 1,200 bytes',
    columns: [
      ['path', 'Path', 'text'],
      ['sent', 'Sent', 'count'],
      ['back', 'Came back', 'count'],
    ],
    rows: [
      { path: 'Through the proxy', sent: TRIES, back: back.proxied },
      { path: 'Direct', sent: TRIES, back: back.direct },
    ],
    finding:
      none && 'No datagram of 1,200 bytes comes back through the proxy, so QUIC does not work through it.',
    notes: [
      'Tried before the load, apart from its datagrams. QUIC needs datagrams of 1,200 bytes (RFC 9000, 14).',
    ],
  });
}

/** @type {import('./claims.js').Check} */
export const QUIC_SIZE = { tries: tryQuicSize, section: quicSizeSection };
