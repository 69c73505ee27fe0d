/**
 * One clock for all virtual users of a k6 process, and the way from k6's WebSocket
 * timestamps to it.
 *
 * `Date.now()` shows whole milliseconds. The test-run duration is the system's clock
 * in nanoseconds less the test's start, the same for every VU:
 * https://grafana.com/docs/k6/latest/javascript-api/k6-execution/#instance
 */
import { now } from 'k6/x/windtunnel/record';

export { now };

/** @type {number | undefined} */
let offset;

/**
 * Milliseconds from the Unix epoch to the zero of now(). Both come from one clock, so this is one
 * figure for a whole test and all its VUs: measure it once, in setup(), since it spins for up to
 * 3 ms, and 50 VUs that do so at once take the CPUs from what they time. At the instant at which
 * Date.now() ticks, its value is exact; the spin is repeated because a preemption between tick and
 * reading only makes the difference smaller, never larger.
 */
export function measureOffset() {
  let best = -Infinity;
  for (let round = 0; round < 3; round += 1) {
    const before = Date.now();
    let tick = before;
    while (tick === before) tick = Date.now();
    best = Math.max(best, tick - now());
  }
  return best;
}

/** In a VU, before the first fromWall(). @param {number} measured by measureOffset() in setup() */
export function useOffset(measured) {
  offset = measured;
}

/**
 * Turns a wall-clock time in ms (the `timestamp` of a k6/websockets event, taken
 * when the frame left the socket) into a time on now()'s clock.
 * @param {number} wallMs
 */
export function fromWall(wallMs) {
  if (offset === undefined) throw new Error('fromWall() before useOffset()');
  return wallMs - offset;
}
