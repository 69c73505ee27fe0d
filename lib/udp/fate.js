/**
 * The fate of the datagrams of one size. The probe knows the answers, and the far end counts the datagrams and bytes that it got
 * and sent. Both together distinguish the two ways.
 */
import { grouped } from '../section.js';

/**
 * @typedef {object} Fate
 * @property {boolean} whole every datagram came back as it was
 * @property {string} back what came back, in words
 * @property {string | null} up the way to the far end; null: unknown
 * @property {string | null} down the way back; null: unknown, or the far end had nothing to send
 *
 * @typedef {{ count: number, bytes: number }} Amount of datagrams
 */

/** @param {number} lost @param {number} sent */
const lostOf = (lost, sent) => (lost >= sent ? 'lost' : `${lost} of ${sent} lost`);

/**
 * One way, by the datagrams and bytes that entered and left it.
 * @param {Amount} sent
 * @param {Amount} got
 * @param {{ split: boolean, stray: boolean }} seen `stray`: answers came that belong to no datagram
 */
function wayOf(sent, got, { split, stray }) {
  if (got.count === 0) return stray ? 'garbled' : 'lost';
  // Compares averages, because some datagrams may be lost.
  if (got.bytes * sent.count < sent.bytes * got.count)
    return split ? 'split' : `truncated to ${grouped(Math.floor(got.bytes / got.count))} bytes`;
  return got.count < sent.count ? lostOf(sent.count - got.count, sent.count) : 'whole';
}

/**
 * The way back. If the way up has split datagrams, only their first pieces are known.
 * @param {string} up @param {number} sent @param {Amount} answered @param {Amount} came @param {boolean} stray @param {boolean} split
 */
function downOf(up, sent, answered, came, stray, split) {
  if (up === 'split') return came.count < sent ? lostOf(sent - came.count, sent) : 'whole';
  return answered.count > 0 ? wayOf(answered, came, { split, stray }) : null;
}

/**
 * The findings of the probe alone. `garbled`: answers of the right length had another content.
 * @param {import('../meter.js').Outcome} outcome
 */
function seenOf({ attempted, succeeded, errors, anomalies }) {
  const stray = (anomalies.unexpected ?? 0) > 0;
  const truncated = errors.truncated > 0;
  const garbled = errors.corrupted > 0;
  const whole = attempted > 0 && succeeded === attempted;
  return { stray, truncated, garbled, whole, split: truncated && stray };
}

/** The outcome if nothing distinguishes the ways. @param {ReturnType<typeof seenOf>} seen @param {import('../meter.js').Outcome} outcome */
function backOf({ whole, garbled, split, truncated }, { attempted, succeeded }) {
  if (whole) return 'whole';
  if (garbled) return 'garbled';
  if (split) return 'split';
  return truncated ? 'truncated' : lostOf(attempted - succeeded, attempted);
}

/**
 * @param {number} bytes of each datagram
 * @param {import('../meter.js').Ended} ended
 * @returns {Fate}
 */
export function fateOf(bytes, ended) {
  if ('error' in ended) return { whole: false, back: ended.error.kind, up: null, down: null };
  const { outcome } = ended;
  const { far_end: far } = outcome;
  const seen = seenOf(outcome);
  const { whole, stray, split } = seen;
  // The far end counts lengths, so another content may be from either way.
  if (!far || seen.garbled) return { whole, back: backOf(seen, outcome), up: null, down: null };
  const sent = far.datagrams_up.most ?? outcome.attempted;
  const arrived = { count: far.datagrams_up.found, bytes: far.bytes_up.found };
  const answered = { count: far.datagrams_down.found, bytes: far.bytes_down.found };
  const came = { count: far.datagrams_down.least, bytes: far.bytes_down.least };
  const start = { count: sent, bytes: sent * bytes };
  const up = wayOf(start, arrived, seen);
  const down = downOf(up, sent, answered, came, stray && up !== 'garbled', split);
  if (whole) return { whole, back: 'whole', up, down };
  const back = up === 'split' ? up : wayOf(start, came, seen);
  return { whole, back: back === 'whole' ? 'late' : back, up, down };
}
