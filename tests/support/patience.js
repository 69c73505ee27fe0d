/** The longest waits of tests. A slow or busy machine gets more time: the tests measure its speed, and again when a wait expires. */

import { LIMITS } from './limits.js';

/** Steps of the measured computation, which takes usual_ms on an idle machine. */
const STEPS = 20_000_000;

/** The time of a fixed computation, divided by its usual time. The time includes waits for a CPU. At least 1. */
export function slowness() {
  const began = performance.now();
  let state = 1;
  for (let step = 0; step < STEPS; step += 1) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  const took = performance.now() - began + (state === 0 ? 1 : 0);
  return Math.min(LIMITS.most_slowness, Math.max(1, took / LIMITS.usual_ms));
}

/** The slowness at the last measurement. */
let factor = slowness();

/**
 * A limit of time, which grows if the machine has become slower.
 * @param {number} ms on a machine of usual speed
 * @param {{ now?: () => number, measure?: () => number }} [clock] of its test
 * @returns {() => boolean} whether to go on waiting
 */
export function patience(ms, { now = () => performance.now(), measure = slowness } = {}) {
  const began = now();
  let own = factor;
  return () => {
    if (now() - began < ms * own) return true;
    factor = measure();
    own = Math.max(own, factor);
    return now() - began < ms * own;
  };
}

/** The longest timeout that the sidecar's probes take. */
const LONGEST_TIMEOUT_MS = 60_000;

/** A timeout for a probe, which takes only a number. @param {number} ms @param {number} [slower] */
export const patientMs = (ms, slower = factor) => Math.min(LONGEST_TIMEOUT_MS, Math.round(ms * slower));
