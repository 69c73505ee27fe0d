/**
 * Traits of a row: what applications need of a proxy beyond speed. The largest safe datagram, what becomes of the client's end
 * (half-close), and whether CONNECT is an early answer. Its turn has the first byte.
 */
import { measure, startEcho, stopEcho } from '../meter.js';
import { cpusOf } from '../dataplane/environment.js';
import { FAREWELL, grantsNobody, halfCloseOf } from '../dataplane/claims.js';
import { QUIC_BYTES } from '../dataplane/quic-size.js';
import { endsOf } from '../link.js';
import { fateOf } from '../udp/fate.js';
import { MOST_BYTES, narrow, probeOf, roomTo, safeOf } from '../udp/sizes.js';
import { FAR_HOST, entryOf } from './way.js';

/**
 * @typedef {import('./turn.js').Turn} Turn
 * @typedef {{ bytes: number, proxied: import('../udp/fate.js').Fate }} Tried
 * @typedef {{ safe: number, broken: number | null, fate: string | null, quic: boolean }} Sizes `fate` of the size `broken`
 * @typedef {import('../dataplane/claims.js').HalfClose} HalfClose
 *
 * @typedef {object} Traits null: the row has no such trait, or its client cannot be asked
 * @property {Sizes | null} sizes
 * @property {HalfClose | null} halfClose
 * @property {import('../dataplane/claims.js').Nobody | null} nobody
 */

/** Sizes that are tried first, bytes: below QUIC's, QUIC's, and what fits into a packet of Ethernet. */
const FIRST_SIZES = [1, 512, QUIC_BYTES, 1472];
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
  return withFar(instance, FAREWELL, (reach) => halfCloseOf(reach, Boolean(plane.data.link)));
}

/** Notes what becomes of the client's end on both sides. @param {import('./side-by-side.js').SideBySide} both */
export function noteHalfClose(both) {
  for (const { own, turn } of both.carrying) own.halfClose = halfCloseIn(turn);
}

/** @param {Turn} turn @param {import('../udp/sizes.js').Of} tries @returns {Sizes} */
function sizesIn(turn, tries) {
  const { target, ...way } = turn.wayTo('udp');
  /** @type {Tried[]} */
  const tried = [];
  const once = (/** @type {number} */ bytes) => {
    const ended = measure({
      ...probeOf(bytes, tries, tries.timeoutMs),
      cpus: cpusOf(turn.plane.environment.placement.probe_cpus),
      target,
      ...way,
    });
    const fate = fateOf(bytes, ended);
    // Another content is the one fault that is judged.
    if (fate.back === 'garbled') turn.note({ corrupted: 1 }, 0);
    return fate;
  };
  const tryOne = (/** @type {number} */ bytes) => {
    tried.push({ bytes, proxied: once(bytes) });
    tried.sort((a, b) => a.bytes - b.bytes);
  };
  const room = 'proxy' in way ? roomTo(target) : MOST_BYTES;
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
  return {
    safe,
    broken,
    fate: of(broken)?.proxied.back ?? null,
    quic: of(QUIC_BYTES)?.proxied.whole ?? false,
  };
}

/**
 * The traits of a row, in a turn that carries traffic.
 * @param {Turn} turn
 * @param {Pick<import('./matrix.js').Row, 'udp'>} row
 * @param {import('../udp/sizes.js').Of} of sizes of datagrams
 * @returns {Traits}
 */
export function traitsOf(turn, { udp }, of) {
  const takesAddress = entryOf(turn.instance).scheme !== 'direct';
  return {
    halfClose: halfCloseIn(turn),
    nobody: takesAddress ? grantsNobody(turn.wayTo('tcp')) : null,
    // The last ones: some programs end at a large datagram.
    sizes: udp ? sizesIn(turn, of) : null,
  };
}
