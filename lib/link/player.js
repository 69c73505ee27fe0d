/** Simulates the playback of a video stream from the arrival times of its segments. */

/**
 * @typedef {object} Stream
 * @property {number} segment_s play time of a segment
 * @property {number} ahead number of segments that a player buffers before it starts
 * @property {number} until_s end of the stream, after the request for the first segment
 *
 * @typedef {{ start_s: number | null, stalled_s: number, stalls: number, played_s: number }} Played `start_s` until playback began,
 *   null: it never began; `stalled_s` total time of stalls after that
 */

/**
 * A player plays each segment after it has arrived completely and the previous segment is over; meanwhile it stalls. A
 * segment that never arrives ends the playback.
 * @param {(number | null)[]} arrivals time of each complete segment, in order, s after the request for the first; null: never
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

/** Share of the time since playback began that the video stalled; 1 if it never began. @param {Played} played */
export const stalledShare = ({ start_s: start, stalled_s: stalled, played_s: all }) =>
  start === null ? 1 : stalled / (stalled + all);

/**
 * Arrival times of the segments, from the samples of a fetch probe with an open loop. A sample counts from the intended request.
 * @param {{ values: number[], ends: number[] }} samples ns, and ms since 1970, in the order in which they ended
 * @param {number} segment_s
 * @param {number} count number of segments
 * @returns {(number | null)[]} s after the intended request for the first segment that arrived; null: it did not arrive
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
 * End of a stream: the latest of its planned end, the probe's end and the last segment's arrival.
 * @param {(number | null)[]} arrivals
 * @param {number} planned_s
 * @param {number} lasted_s duration of the probe
 */
export const overAt = (arrivals, planned_s, lasted_s) =>
  Math.max(planned_s, lasted_s, ...arrivals.map((at) => at ?? 0));
