/** Datagrams of one size after the other, through the proxy and direct. */
import { said, say } from 'k6/x/windtunnel/record';
import { QUIC_BYTES } from '../dataplane/quic-size.js';
import { controlName, partName } from '../dataplane/scenario.js';
import { fateOf } from './fate.js';

/** The largest payload of UDP over IPv4: 65,535 less the headers of IP and UDP (RFC 768). */
export const MOST_BYTES = 65_507;
/** The operation of all sizes up to QUIC's: none of these may be lost. Larger sizes are tried, and not judged. */
export const OPERATION = 'to_1200';

/** Larger datagrams are sent one at a time: several would overflow small buffers, and look lost. */
const ALONE_ABOVE_BYTES = 2048;
/** Smaller ones have no room for a number that tells several apart. */
const ALONE_BELOW_BYTES = 4;
const AT_ONCE = 4;
const NOTE = 'sizes of datagrams';

/**
 * @typedef {import('./fate.js').Fate} Fate
 * @typedef {{ bytes: number, tries: number, proxied: Fate | null, direct: Fate }} Tried `proxied` null: it has no room for the SOCKS header
 * @typedef {{ tries: number, timeoutMs: number }} Of
 */

/** @type {Tried[]} of this VU, the only one; by size */
const tried = [];

/** In handleSummary: all sizes in order. @returns {Tried[]} */
export const triedSizes = () => said()[NOTE] ?? [];

/** Bytes of the header that SOCKS5 puts before a datagram to this target (RFC 1928, 7). @param {string} target HOST:PORT */
function headerBytes(target) {
  const host = target.replace(/:\d+$/, '');
  if (/^\d+(\.\d+){3}$/.test(host)) return 10;
  return host.startsWith('[') ? 22 : 7 + host.length;
}

/**
 * Tries one size on both paths.
 * @param {import('../dataplane/scenario.js').Plane<any>} plane
 * @param {number} bytes
 * @param {number} index of the round
 * @param {Of} of
 * @param {boolean} [narrows] one datagram that is lost ends it, and its datagrams are of no operation
 */
export function measureSize(plane, bytes, index, { tries, timeoutMs }, narrows = false) {
  const records = bytes <= QUIC_BYTES && !narrows;
  const spec = {
    kind: 'udp',
    payload_bytes: bytes,
    count: tries,
    warmup: 0,
    window: bytes > ALONE_ABOVE_BYTES || bytes < ALONE_BELOW_BYTES ? 1 : Math.min(tries, AT_ONCE),
    timeout_ms: timeoutMs,
    // A size that never comes back ends soon.
    ...(records ? {} : { stall_ms: narrows ? timeoutMs : 2 * timeoutMs }),
  };
  const once = (/** @type {string} */ name, /** @type {import('../dataplane/scenario.js').Via} */ via) => {
    const ended = plane.measure(via, spec);
    if (records) plane.recorded([name], ended);
    return fateOf(bytes, ended);
  };
  const room = MOST_BYTES - headerBytes(plane.target('udp', plane.proxied.far));
  const { proxied, direct } = plane.part(partName(`${bytes} bytes`, index), () => ({
    direct: once(controlName(OPERATION), plane.direct),
    proxied: bytes <= room ? once(OPERATION, plane.proxied) : null,
  }));
  tried.push({ bytes, tries, proxied, direct });
  tried.sort((a, b) => a.bytes - b.bytes);
  say(NOTE, tried);
}

/**
 * The largest size up to which each tried size came whole, and the next one.
 * @param {Tried[]} all by size
 * @param {'proxied' | 'direct'} path
 * @returns {{ safe: number, broken: number | null }} `safe` 0: not even the smallest
 */
export function safeOf(all, path) {
  const sent = all.filter((one) => one[path] !== null);
  const first = sent.findIndex((one) => !one[path]?.whole);
  if (first < 0) return { safe: sent.at(-1)?.bytes ?? 0, broken: null };
  return { safe: sent[first - 1]?.bytes ?? 0, broken: sent[first].bytes };
}

/** Tries sizes between the largest safe size and the next one, until these are neighbours. @param {import('../dataplane/scenario.js').Plane<any>} plane @param {Of} of */
export function narrowDown(plane, of) {
  for (let step = 0; ; step += 1) {
    const { safe, broken } = safeOf(tried, 'proxied');
    if (broken === null || broken - safe <= 1) return;
    measureSize(plane, Math.floor((safe + broken) / 2), step, of, true);
  }
}
