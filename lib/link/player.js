/** What somebody sees of a video stream whose segments came when they came. */

/**
 * @typedef {object} Stream
 * @property {number} segment_s of play time in a segment
 * @property {number} ahead segments that a player has before it begins to play
 * @property {number} until_s when it was over, after the request for the first segment
 *
 * @typedef {{ start_s: number | null, stalled_s: number, stalls: number, played_s: number }} Played `start_s` until it began to play,
 *   null: it never did; `stalled_s` how long it stood still after that
 */

/**
 * A player plays each segment once it is whole and the one before is over, and stands still meanwhile. What never came ends it.
 * @param {(number | null)[]} arrivals when each segment was whole, in their order, s after the request for the first; null: never
 * @param {Stream} stream
 * @returns {Played}
 */
export function playedOf(arrivals, { segment_s: length, ahead, until_s: until }) {
  const begins = arrivals.slice(0, ahead);
  const start = begins.length < ahead ? Infinity : Math.max(...begins.map((at) => at ?? Infinity));
  if (start > until) return { start_s: null, stalled_s: 0, stalls: 0, played_s: 0 };
  const played = { start_s: start, stalled_s: 0, stalls: 0, played_s: 0 };
  let due = start;
  for (const at of arrivals) {
    const came = at ?? Infinity;
    const waited = Math.min(came, until) - due;
    if (waited > 0) {
      played.stalled_s += waited;
      played.stalls += 1;
    }
    if (came > until) return played;
    due = Math.max(due, came) + length;
    played.played_s += length;
  }
  return played;
}

/** Of the time from the first picture on, the share that it stood still; all of it where there was no picture. @param {Played} played */
export const stalledShare = ({ start_s: start, stalled_s: stalled, played_s: all }) =>
  start === null ? 1 : stalled / (stalled + all);

/**
 * When each segment was whole, from the samples of a fetch probe with an open loop: a sample counts from the intended request.
 * @param {{ values: number[], ends: number[] }} samples ns, and ms since 1970, in the order in which they ended
 * @param {number} segment_s
 * @param {number} count of the segments
 * @returns {(number | null)[]} s after the intended request for the first one that came; null: it did not come
 */
export function arrivalsOf({ values, ends }, segment_s, count) {
  /** @type {(number | null)[]} */
  const arrivals = Array.from({ length: count }, () => null);
  if (values.length === 0) return arrivals;
  const asked = values.map((ns, index) => (ends[index] - ns / 1e6) / 1000);
  const first = Math.min(...asked);
  for (const [index, at] of asked.entries()) {
    const place = Math.round((at - first) / segment_s);
    if (place < count) arrivals[place] = ends[index] / 1000 - first;
  }
  return arrivals;
}

/**
 * When a stream was over: no sooner than it was planned, than the probe had ended and than its last segment came.
 * @param {(number | null)[]} arrivals
 * @param {number} planned_s
 * @param {number} lasted_s the probe
 */
export const overAt = (arrivals, planned_s, lasted_s) =>
  Math.max(planned_s, lasted_s, ...arrivals.map((at) => at ?? 0));
