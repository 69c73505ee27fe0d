/**
 * When an open-loop iteration was meant to start. k6 does not tell how late an
 * iteration of an arrival-rate executor was; the sum that k6 does, done here, tells.
 * A dropped iteration shifts the sum, which is one more reason why drops make a run
 * inconclusive.
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
 * constant-arrival-rate starts iteration i at i / rate after the executor's own
 * start, which its progress reveals to the nanosecond.
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
 * ramping-arrival-rate starts iteration i when the area under its rate reaches
 * i + 1, counted from a moment that comes after its start by the time that it
 * takes to wake its VUs, and is shown nowhere. So each VU takes its least late
 * iteration so far as having been on time.
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
 * A function that tells, at the start of an iteration, the time on now()'s clock at
 * which it was meant to start (`at`) and that time since the loop began (`offset`).
 * @param {import('./profiles.js').Schedule} schedule
 * @returns {() => { at: number, offset: number }}
 */
export function paceOf(schedule) {
  const { start, steps } = schedule;
  const lengthMs = steps.reduce((sum, step) => sum + step.seconds, 0) * 1000;
  return isConstant(schedule) ? constantPace(start, lengthMs) : rampingPace(schedule);
}
