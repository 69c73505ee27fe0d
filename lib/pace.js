/**
 * The intended start of an open-loop iteration. k6 does not report how late an iteration of an arrival-rate executor is,
 * so this module repeats k6's computation. A dropped iteration shifts all later starts, which is one more reason why drops
 * make a run inconclusive.
 */
import { now } from './clock.js';
import { ownScenario } from './execution.js';
import { isConstant } from './profiles.js';

/**
 * Milliseconds from the start of the executor to the intended start of an iteration.
 * @param {import('./profiles.js').Schedule} schedule of a ramp
 * @param {number} iteration counted from 0
 */
export function intendedOffset(schedule, iteration) {
  let from = schedule.start;
  let done = 0;
  let startedAt = 0;
  for (const { target, seconds } of schedule.steps) {
    const area = (seconds * (from + target)) / 2;
    const wanted = iteration + 1 - done;
    if (wanted <= area + 1e-9) {
      if (from === target) return (startedAt + wanted / from) * 1000;
      const slope = (target - from) / seconds;
      return (startedAt + (Math.sqrt(Math.max(0, from * from + 2 * slope * wanted)) - from) / slope) * 1000;
    }
    done += area;
    startedAt += seconds;
    from = target;
  }
  return startedAt * 1000;
}

/**
 * constant-arrival-rate starts iteration i at i / rate after the start of the executor. The executor's progress gives that
 * start with a resolution of 1 ns.
 * @param {number} rate a second
 * @param {number} lengthMs
 */
function constantPace(rate, lengthMs) {
  /** @type {number | undefined} */
  let origin;
  return () => {
    if (origin === undefined) origin = now() - ownScenario().progress * lengthMs;
    const offset = (ownScenario().iterationInTest * 1000) / rate;
    return { at: origin + offset, offset };
  };
}

/**
 * ramping-arrival-rate starts iteration i when the area under its rate reaches i + 1. The executor counts from a moment
 * after its start, since it first wakes its VUs, and k6 does not reveal that moment. So each VU assumes that its earliest
 * iteration so far was on time.
 * @param {import('./profiles.js').Schedule} schedule
 */
function rampingPace(schedule) {
  let origin = Infinity;
  return () => {
    const offset = intendedOffset(schedule, ownScenario().iterationInTest);
    origin = Math.min(origin, now() - offset);
    return { at: origin + offset, offset };
  };
}

/**
 * Returns a function to call at the start of an iteration. It returns the intended start on now()'s clock (`at`, ms) and
 * the intended start since the loop began (`offset`, ms).
 * @param {import('./profiles.js').Schedule} schedule
 * @returns {() => { at: number, offset: number }}
 */
export function paceOf(schedule) {
  const { start, steps } = schedule;
  const lengthMs = steps.reduce((sum, step) => sum + step.seconds, 0) * 1000;
  return isConstant(schedule) ? constantPace(start, lengthMs) : rampingPace(schedule);
}
