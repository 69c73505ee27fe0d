/**
 * One clock for all virtual users of a k6 process, and the conversion of k6's WebSocket timestamps to that clock.
 *
 * `Date.now()` has a resolution of 1 ms. now() is the test-run duration in ns: the same clock for every VU.
 * https://grafana.com/docs/k6/latest/javascript-api/k6-execution/#instance
 */
import { now } from 'k6/x/windtunnel/record';

export { now };

/** @type {number | undefined} */
let offset;

/**
 * Milliseconds from the Unix epoch to the zero of now(). The figure is the same for all VUs. Call this once, in setup():
 * it spins for up to 3 ms, and 50 VUs that spin at once would slow the load down.
 *
 * Date.now() is exact at the instant at which it ticks. A preemption between the tick and the reading can only make the
 * difference smaller, so the largest of three tries is the best one.
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

/** Sets the offset of a VU, before its first fromWall(). @param {number} measured by measureOffset() in setup() */
export function useOffset(measured) {
  offset = measured;
}

/**
 * Converts a wall-clock time in ms to a time on now()'s clock. The `timestamp` of a k6/websockets event is a wall-clock
 * time: the moment at which the frame was read from the socket.
 * @param {number} wallMs
 */
export function fromWall(wallMs) {
  if (offset === undefined) throw new Error('fromWall() before useOffset()');
  return wallMs - offset;
}
