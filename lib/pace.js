/**
 * When an open-loop iteration was meant to start. k6 starts iteration i of an
 * arrival-rate executor when the area under the rate curve reaches i + 1 and does
 * not tell how late it was; the same sum, done here, tells. A dropped iteration
 * shifts the sum, which is one more reason why drops make a run inconclusive.
 */
import exec from 'k6/execution';
import { now } from './clock.js';

/**
 * Milliseconds from the start of the executor to the intended start of an iteration.
 * @param {{ start: number, steps: import('./profiles.js').Step[] }} schedule rates a second
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

/** @param {{ start: number, steps: import('./profiles.js').Step[] }} schedule */
export function paceOf(schedule) {
  const lengthMs = schedule.steps.reduce((sum, step) => sum + step.seconds, 0) * 1000;
  /** @type {number | undefined} */
  let origin;
  return {
    /** Time on now()'s clock at which this iteration was meant to start, and that time since the loop began. */
    intended() {
      // progress is the elapsed share of the executor's own duration, to the nanosecond.
      if (origin === undefined) origin = now() - exec.scenario.progress * lengthMs;
      const offset = intendedOffset(schedule, exec.scenario.iterationInTest);
      return { at: origin + offset, offset };
    },
  };
}
