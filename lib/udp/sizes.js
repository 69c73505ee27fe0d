/** Datagrams of one size after the other, through the proxy and direct. */
import { QUIC_BYTES } from '../dataplane/quic-size.js';
import { controlName, partName } from '../dataplane/scenario.js';
import { measureAll } from '../meter.js';
import { listOf, note } from '../notes.js';
import { fateOf } from './fate.js';

/** The largest payload of UDP over IPv4: 65,535 less the headers of IP and UDP (RFC 768). */
export const MOST_BYTES = 65_507;
/** The operation of all sizes up to QUIC's: none of these may be lost. Larger sizes are tried, and not judged. */
export const OPERATION = 'to_1200';
const OPERATIONS = [controlName(OPERATION), OPERATION];

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

/** All sizes that were tried, in order. @returns {Tried[]} */
export const triedSizes = () => listOf(NOTE).toSorted((a, b) => a.bytes - b.bytes);

/** The largest payload that leaves room for the header of SOCKS5 (RFC 1928, 7). @param {string} target HOST:PORT */
export const roomTo = (target) => MOST_BYTES - headerBytes(target);

/** @param {string} target HOST:PORT */
function headerBytes(target) {
  const host = target.replace(/:\d+$/, '');
  if (/^\d+(\.\d+){3}$/.test(host)) return 10;
  return host.startsWith('[') ? 22 : 7 + host.length;
}

/**
 * The probe of one size.
 * @param {number} bytes
 * @param {Of} of
 * @param {number} [stallMs] silence that ends it; default: the sidecar's
 */
export const probeOf = (bytes, { tries, timeoutMs }, stallMs) => ({
  kind: 'udp',
  payload_bytes: bytes,
  count: tries,
  warmup: 0,
  window: bytes > ALONE_ABOVE_BYTES || bytes < ALONE_BELOW_BYTES ? 1 : Math.min(tries, AT_ONCE),
  timeout_ms: timeoutMs,
  ...(stallMs && { stall_ms: stallMs }),
});

/**
 * Tries one size on both paths.
 * @param {import('../dataplane/scenario.js').Plane<any>} plane
 * @param {number} bytes
 * @param {number} index of the round
 * @param {Of} of
 * @param {boolean} [narrows] one datagram that is lost ends it, and its datagrams are of no operation
 */
export function measureSize(plane, bytes, index, of, narrows = false) {
  const { tries, timeoutMs } = of;
  const records = bytes <= QUIC_BYTES && !narrows;
  // A size that never comes back ends soon.
  const spec = probeOf(bytes, of, records ? undefined : (narrows ? 1 : 2) * timeoutMs);
  const room = roomTo(plane.target('udp', plane.proxied.far));
  const vias = bytes <= room ? [plane.direct, plane.proxied] : [plane.direct];
  const { direct, proxied } = plane.part(partName(`${bytes} bytes`, index), () => {
    // Latencies of larger sizes are not recorded, so that both paths may be measured at once.
    const ended = records
      ? vias.map((via) => plane.measure(via, spec))
      : measureAll(vias.map((via) => plane.specOf(via, spec)));
    if (records) ended.forEach((one, path) => plane.recorded([OPERATIONS[path]], one));
    const [first, second = null] = ended.map((one) => fateOf(bytes, one));
    return { direct: first, proxied: second };
  });
  note(NOTE, { bytes, tries, proxied, direct });
}

/**
 * The largest size up to which each tried size came whole, and the next one.
 * @template {'proxied' | 'direct'} Path
 * @param {({ bytes: number } & Record<Path, Fate | null>)[]} all by size
 * @param {Path} path
 * @returns {{ safe: number, broken: number | null }} `safe` 0: not even the smallest
 */
export function safeOf(all, path) {
  const sent = all.filter((one) => one[path] !== null);
  const first = sent.findIndex((one) => !one[path]?.whole);
  if (first < 0) return { safe: sent.at(-1)?.bytes ?? 0, broken: null };
  return { safe: sent[first - 1]?.bytes ?? 0, broken: sent[first].bytes };
}

/**
 * Tries sizes between the largest safe size and the next one, until these are neighbours.
 * @param {() => ReturnType<typeof safeOf>} found of the sizes tried so far
 * @param {(bytes: number, step: number) => void} tryOne
 */
export function narrow(found, tryOne) {
  for (let step = 0; ; step += 1) {
    const { safe, broken } = found();
    if (broken === null || broken - safe <= 1) return;
    tryOne(Math.floor((safe + broken) / 2), step);
  }
}

/** narrow() for the path through the proxy. @param {import('../dataplane/scenario.js').Plane<any>} plane @param {Of} of */
export const narrowDown = (plane, of) =>
  narrow(
    () => safeOf(triedSizes(), 'proxied'),
    (bytes, step) => measureSize(plane, bytes, step, of, true),
  );
