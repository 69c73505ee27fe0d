/**
 * What a transfer did around a change of its link, made of what had come in each tenth of a second.
 *
 * A transfer has *recovered* at the start of the first second in which, on average, it carries at least 80 % of what it should: of what
 * it carried before the change, by as much as the line's rate has changed. The time is counted from when the link is as it stays.
 */

/** Of the rate that it should have. */
export const ENOUGH = 0.8;
/** For so long. */
const SECOND = 1;
/** Before the change, so long is looked at, s. */
const BEFORE_S = 2;

/**
 * @typedef {object} Course
 * @property {number[]} bytes that came in each bucket
 * @property {number} bucketS length of one
 *
 * @typedef {object} Changed
 * @property {number} at when it began, s after the start of the course
 * @property {number} until when the link was as it stays
 * @property {number} [rate] that of the line afterwards, as a multiple of before; 1 unless given
 *
 * @typedef {object} Recovery
 * @property {number} before Mbit/s in the two seconds before it
 * @property {number} after Mbit/s in the last two seconds
 * @property {number | null} recoveredS null where it did not, in the time that was looked at
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
export function recoveryOf(course, { at, until, rate = 1 }) {
  const { bytes, bucketS } = course;
  const lookedS = bytes.length * bucketS;
  const before = mbitBetween(course, at - BEFORE_S, at);
  const enough = before * rate * ENOUGH;
  const first = Math.ceil(until / bucketS);
  const last = bytes.length - Math.round(SECOND / bucketS);
  let recoveredS = null;
  for (let bucket = first; bucket <= last && before > 0; bucket += 1) {
    const begins = bucket * bucketS;
    if (mbitBetween(course, begins, begins + SECOND) < enough) continue;
    recoveredS = Math.max(0, begins - until);
    break;
  }
  return {
    before,
    after: mbitBetween(course, lookedS - BEFORE_S, lookedS),
    recoveredS,
    lookedS: lookedS - until,
    silentS: longestSilence(bytes.slice(Math.floor(at / bucketS))) * bucketS,
  };
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
