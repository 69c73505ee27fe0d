/**
 * A load that runs at the same time as the load of the other side of a comparison: BARRIER is set in such a run. A disturbance of the
 * machine reaches both loads, so the ratio of their rates varies far less than the rates.
 */
import { given, meet } from 'k6/x/windtunnel/barrier';

/** Whether both loads run at once. */
export const atOnce = given;

/** Runs are comparable if both loads ran at once, or neither. @type {Record<string, boolean>} */
export const atOnceParameter = given ? { at_once: true } : {};

/** In setup(): waits until the other side is ready for its load. */
export function beginTogether() {
  if (given && !meet('begin'))
    throw new Error('the other side of this pair has ended before its load, so this load would run alone');
}

/** In teardown(), after the measuring window: waits until the other load has ended, which a clean-up would disturb. */
export function endTogether() {
  if (given) meet('end');
}
