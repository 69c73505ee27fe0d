/**
 * What a transfer did around a change of its link, made of what had come in each tenth of a second.
 *
 * A transfer has *recovered* at the start of the first second in which, on average, it carries at least 80 % of what it should, and in
 * whose first tenth it does so, too: what comes at once after a silence has not come before it. A change may be felt late, so that it
 * counts from its last whole second of silence on. It should carry what it carried before
 * the change, and no more than the line did, by as much as the line's rate has changed. The time is counted from when the link is as it stays. A transfer that carries
 * less in the last two seconds that were looked at has not recovered, however well it did meanwhile.
 */

/** Of the rate that it should have. */
export const ENOUGH = 0.8;
/** For so long. */
const SECOND = 1;
/** Before the change, so long is looked at, s. */
export const BEFORE_S = 2;
/** And so long at the end. */
const LAST_S = 2;

/**
 * @typedef {object} Course
 * @property {number[]} bytes that came in each bucket
 * @property {number} bucketS length of one
 *
 * @typedef {object} Changed
 * @property {number} at when it began, s after the start of the course
 * @property {number} until when the link was as it stays
 * @property {number} [rate] that of the line afterwards, as a multiple of before; 1 unless given
 * @property {number | null} [lineMbit] what the line carries before the change: what waited comes at once, and more of it than that is
 *   nothing to come back to
 *
 * @typedef {object} Recovery
 * @property {number} before Mbit/s in the two seconds before it
 * @property {number} after Mbit/s in the last two seconds, from when the link is as it stays at the earliest
 * @property {number | null} recoveredS null where it did not, in the time that was looked at, or not for good
 * @property {number} lookedS for so long it was looked at
 * @property {number} silentS the longest time without a byte after its beginning
 */

/** Mbit/s between two moments, whole buckets. @param {Course} course @param {number} from s @param {number} to s */
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
 * How long after a moment the first second begins that carries enough.
 * @param {Course} course
 * @param {number} from s
 * @param {number} enough Mbit/s
 * @returns {number | null} s; null where there is none
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

/** The bucket after the last silence of so many buckets; the first one where there is none. @param {number[]} bytes @param {number} first @param {number} least */
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
 * What is lost with tunnels that died: what their sender had got rid of, and their receiver never got.
 * @param {{ sent: number, received: number, died: object | null }[]} tunnels
 */
export const bytesLost = (tunnels) =>
  tunnels
    .filter(({ died }) => died)
    .reduce((sum, { sent, received }) => sum + Math.max(0, sent - received), 0);
