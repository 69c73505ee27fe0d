/**
 * A transfer around a change of its link, from the bytes that arrived in each tenth of a second.
 *
 * A transfer has *recovered* at the start of the first second in which it carries at least 80 % of its target, on average and
 * in the first tenth. The first tenth excludes a burst after a silence. A change may show late, so the search begins after the
 * last silence of a whole second.
 *
 * The target is the rate before the change, at most the line's rate, times the factor by which the line's rate changed. The
 * time counts from the end of the change. A transfer that carries less in the last two observed seconds has not recovered,
 * even if it reached the target before.
 */

/** Share of the target that counts as recovered. */
export const ENOUGH = 0.8;
/** Length of the interval that must reach the target, s. */
const SECOND = 1;
/** Length of the interval before the change, s. */
export const BEFORE_S = 2;
/** Length of the interval at the end, s. */
const LAST_S = 2;

/**
 * @typedef {object} Course
 * @property {number[]} bytes that arrived in each bucket
 * @property {number} bucketS length of a bucket, s
 *
 * @typedef {object} Changed
 * @property {number} at start of the change, s after the start of the course
 * @property {number} until end of the change, s
 * @property {number} [rate] of the line afterwards, as a multiple of the rate before; default 1
 * @property {number | null} [lineMbit] rate of the line before the change, Mbit/s; a burst from a queue may exceed it, and is
 *   no rate to return to
 *
 * @typedef {object} Recovery
 * @property {number} before Mbit/s in the two seconds before the change
 * @property {number} after Mbit/s in the last two seconds, but not before the end of the change
 * @property {number | null} recoveredS null: it did not recover, or not for good
 * @property {number} lookedS observed time after the change, s
 * @property {number} silentS the longest time without a byte after the start of the change, s
 */

/** Mbit/s between two moments, in whole buckets. @param {Course} course @param {number} from s @param {number} to s */
export function mbitBetween({ bytes, bucketS }, from, to) {
  const [first, last] = [Math.round(from / bucketS), Math.round(to / bucketS)];
  const part = bytes.slice(Math.max(0, first), Math.max(0, last));
  const sum = part.reduce((total, one) => total + one, 0);
  return part.length > 0 ? (sum * 8) / (part.length * bucketS) / 1e6 : 0;
}

/** @param {Course} course @param {Changed} changed @returns {Recovery} */
export function recoveryOf(course, { at, until, rate = 1, lineMbit }) {
  const { bytes, bucketS } = course;
  const lookedS = bytes.length * bucketS;
  const before = mbitBetween(course, at - BEFORE_S, at);
  const after = mbitBetween(course, Math.max(until, lookedS - LAST_S), lookedS);
  const enough = Math.min(before, lineMbit ?? Infinity) * rate * ENOUGH;
  return {
    before,
    after,
    recoveredS: before > 0 && after >= enough ? carriesFrom(course, until, enough) : null,
    lookedS: lookedS - until,
    silentS: longestSilence(bytes.slice(Math.floor(at / bucketS))) * bucketS,
  };
}

/**
 * Time from a moment to the first second that carries enough.
 * @param {Course} course
 * @param {number} from s
 * @param {number} enough Mbit/s
 * @returns {number | null} s; null: no such second
 */
function carriesFrom(course, from, enough) {
  const { bytes, bucketS } = course;
  const second = Math.round(SECOND / bucketS);
  const first = afterSilence(bytes, Math.ceil(from / bucketS), second);
  for (let bucket = first; bucket <= bytes.length - second; bucket += 1) {
    const begins = bucket * bucketS;
    const parts = [bucketS, SECOND].map((length) => mbitBetween(course, begins, begins + length));
    if (parts.every((mbit) => mbit >= enough)) return Math.max(0, begins - from);
  }
  return null;
}

/** The bucket after the last silence of at least `least` buckets, else the first bucket. @param {number[]} bytes @param {number} first @param {number} least */
function afterSilence(bytes, first, least) {
  let [after, now] = [first, 0];
  for (let bucket = first; bucket < bytes.length; bucket += 1) {
    now = bytes[bucket] === 0 ? now + 1 : 0;
    if (now >= least) after = bucket + 1;
  }
  return after;
}

/** @param {number[]} bytes */
function longestSilence(bytes) {
  let [longest, now] = [0, 0];
  for (const one of bytes) {
    now = one === 0 ? now + 1 : 0;
    longest = Math.max(longest, now);
  }
  return longest;
}

/**
 * Bytes lost with tunnels that died: sent, but never received.
 * @param {{ sent: number, received: number, died: object | null }[]} tunnels
 */
export const bytesLost = (tunnels) =>
  tunnels
    .filter(({ died }) => died)
    .reduce((sum, { sent, received }) => sum + Math.max(0, sent - received), 0);
