/**
 * Traits of a row: what applications need of a proxy beyond speed. The largest safe datagram, what becomes of the client's end
 * (half-close), and whether CONNECT is an early answer. Its turn has the first byte.
 */
import { measure, startEcho, stopEcho } from '../meter.js';
import { cpusOf } from '../dataplane/environment.js';
import { FAREWELL, grantsNobody, halfClosesOf } from '../dataplane/claims.js';
import { QUIC_BYTES } from '../dataplane/quic-size.js';
import { endsOf } from '../link.js';
import { fateOf } from '../udp/fate.js';
import { MOST_BYTES, narrow, probeOf, roomTo, safeOf } from '../udp/sizes.js';
import { knownOf } from './excuse.js';
import { FAR_HOST, entryOf } from './way.js';

/**
 * @typedef {import('./turn.js').Turn} Turn
 * @typedef {{ bytes: number, proxied: import('../udp/fate.js').Fate }} Tried
 * @typedef {{ safe: number, broken: number | null, fate: string | null, quic: boolean, known: string | null }} Sizes `fate` of the size
 *   `broken`; `known`: the known fault that showed
 * @typedef {import('../dataplane/claims.js').HalfClose} HalfClose
 *
 * @typedef {object} Traits null: the row has no such trait, or its client cannot be asked
 * @property {Sizes | null} sizes
 * @property {HalfClose | null} halfClose
 * @property {import('../dataplane/claims.js').Nobody | null} nobody
 */

/** A known fault with large datagrams explains nothing up to this size, bytes. */
const SMALL = 512;
/** Sizes that are tried first, bytes: below QUIC's, QUIC's, and what fits into a packet of Ethernet. */
const FIRST_SIZES = [1, SMALL, QUIC_BYTES, 1472];
/** How often the first size that failed gets another chance: other programs on the CPUs delay answers, too. */
const CHANCES = 3;

/**
 * How a probe reaches a separate far end through an instance; null: the client takes no address.
 * @param {any} instance
 * @param {object} spec of the far end
 * @param {(reach: import('../dataplane/claims.js').Reach) => HalfClose} use
 * @returns {HalfClose | null}
 */
function withFar(instance, spec, use) {
  const { scheme, address } = entryOf(instance);
  if (scheme === 'direct') return null;
  const ends = endsOf(instance, spec);
  const inside = { namespace: { instance: instance.id, name: 'server' }, host: FAR_HOST };
  const far = ends?.home ?? startEcho({ ...spec, ...(scheme === 'socks5' ? {} : inside) });
  const reach =
    scheme === 'socks5'
      ? { ...ends?.near, target: far.tcp, proxy: { address } }
      : { target: far.tcp, namespace: { ...inside.namespace, name: 'client' } };
  const found = use(reach);
  stopEcho(far.id);
  return found;
}

/** The fate of the client's end in a turn's tunnels. @param {Turn} turn @returns {HalfClose | null} */
function halfCloseIn({ instance, plane }) {
  const overLink = Boolean(plane.data.link);
  return withFar(instance, FAREWELL, (reach) => halfClosesOf([reach], overLink)[0]);
}

/** Notes what becomes of the client's end on both sides. @param {import('./side-by-side.js').SideBySide} both */
export function noteHalfClose(both) {
  for (const { own, turn } of both.carrying) own.halfClose = halfCloseIn(turn);
}

/**
 * Judges an end and other content, apart from a known fault.
 * @param {Turn} turn
 * @param {string | null} fault that may explain them
 * @param {{ safe: number, ends: boolean, garbled: number, merged: boolean }} shown
 * @returns {string | null} the fault, if it showed
 */
function excuse(turn, fault, { safe, ends, garbled, merged }) {
  const name = String(safe < SMALL ? null : fault?.split(':')[0]);
  turn.mayEnd = ends && name === 'panics';
  const corrupted = (name === 'garbles' ? 0 : garbled) + Number(merged && name !== 'merges');
  if (corrupted > 0) turn.note({ corrupted }, 0);
  /** @type {Record<string, boolean>} */
  const shows = { panics: ends, garbles: garbled > 0, merges: merged };
  return shows[name] ? fault : null;
}

/** @param {Turn} turn @param {import('../udp/sizes.js').Of} tries @param {string | null} fault with large datagrams @returns {Sizes} */
function sizesIn(turn, tries, fault) {
  const wasUp = !turn.hasEnded();
  let garbled = 0;
  const { target, ...way } = turn.wayTo('udp');
  /** @type {Tried[]} */
  const tried = [];
  // Without SOCKS, the probe sends the datagrams of a window by one system call (UDP_SEGMENT), which some programs do not cut.
  const straight = !('proxy' in way);
  const fateIn = (/** @type {number} */ bytes, /** @type {object} */ more) => {
    const ended = measure({
      ...probeOf(bytes, tries, tries.timeoutMs),
      cpus: cpusOf(turn.plane.environment.placement.probe_cpus),
      target,
      ...way,
      ...more,
    });
    return fateOf(bytes, ended);
  };
  const once = (/** @type {number} */ bytes) => {
    const fate = fateIn(bytes, straight ? { window: 1 } : {});
    // Another content is the one fault that is judged.
    if (fate.back === 'garbled') garbled += 1;
    return fate;
  };
  const tryOne = (/** @type {number} */ bytes) => {
    tried.push({ bytes, proxied: once(bytes) });
    tried.sort((a, b) => a.bytes - b.bytes);
  };
  const mergesIn = (/** @type {number} */ most) =>
    straight && most >= SMALL && fateIn(SMALL, {}).back === 'garbled';
  const room = straight ? MOST_BYTES : roomTo(target);
  const found = () => safeOf(tried, 'proxied');
  for (const bytes of [...FIRST_SIZES, room]) tryOne(bytes);
  const of = (/** @type {number | null} */ size) => tried.find(({ bytes }) => bytes === size);
  for (let chance = 0; chance < CHANCES; chance += 1) {
    narrow(found, tryOne);
    const failed = of(found().broken);
    if (!failed) break;
    failed.proxied = once(failed.bytes);
    if (!failed.proxied.whole) break;
  }
  const { safe, broken } = found();
  const merged = mergesIn(safe);
  const ends = wasUp && turn.hasEnded();
  return {
    safe,
    broken,
    fate: ends ? 'ends the program' : (of(broken)?.proxied.back ?? null),
    known: excuse(turn, fault, { safe, ends, garbled, merged }),
    quic: of(QUIC_BYTES)?.proxied.whole ?? false,
  };
}

/**
 * The traits of a row, in a turn that carries traffic.
 * @param {Turn} turn
 * @param {import('./matrix.js').Row} row
 * @param {import('./sides.js').Side} side
 * @param {import('../udp/sizes.js').Of} of sizes of datagrams
 * @returns {Traits}
 */
export function traitsOf(turn, { udp, knownOfDatagrams: known }, side, of) {
  const takesAddress = entryOf(turn.instance).scheme !== 'direct';
  return {
    halfClose: halfCloseIn(turn),
    nobody: takesAddress ? grantsNobody(turn.wayTo('tcp')) : null,
    // The last ones: some programs end at a large datagram.
    sizes: udp ? sizesIn(turn, of, knownOf({ known }, side)) : null,
  };
}
