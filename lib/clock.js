/**
 * One monotonic clock for all virtual users of a k6 process, and the way from
 * k6's wall-clock WebSocket timestamps to it.
 *
 * `Date.now()` shows whole milliseconds and may jump; the test-run duration is
 * monotonic with sub-microsecond resolution and the same for every VU:
 * https://grafana.com/docs/k6/latest/javascript-api/k6-execution/#instance
 */
import { ownInstance } from './execution.js';

/** How long a wall-clock offset is trusted before it is measured anew. */
const OFFSET_MAX_AGE_MS = 2000;

/** @type {{ offset: number, measuredAt: number } | undefined} */
let wall;

/** Milliseconds since the test began, monotonic, with fractions. */
export function now() {
  return ownInstance().currentTestRunDuration;
}

/**
 * Difference between the wall clock and now(), in ms. At the instant at which
 * Date.now() ticks, its value is exact; the spin lasts at most a millisecond and
 * is repeated because a preemption between tick and reading only makes the
 * difference smaller, never larger.
 */
function measureOffset() {
  let best = -Infinity;
  for (let round = 0; round < 3; round += 1) {
    const before = Date.now();
    let tick = before;
    while (tick === before) tick = Date.now();
    best = Math.max(best, tick - now());
  }
  return best;
}

/**
 * Measures the wall-clock offset where the last one is older than two seconds.
 * It spins for up to 3 ms: call it where nothing is being timed.
 */
export function syncWallClock() {
  if (wall && now() - wall.measuredAt < OFFSET_MAX_AGE_MS) return;
  wall = { offset: measureOffset(), measuredAt: now() };
}

/**
 * Turns a wall-clock time in ms (the `timestamp` of a k6/websockets event, taken
 * when the frame left the socket) into a time on the monotonic clock.
 * @param {number} wallMs
 */
export function fromWall(wallMs) {
  if (!wall) syncWallClock();
  return wallMs - /** @type {{ offset: number }} */ (wall).offset;
}
