/** Detects CPU use of other programs while nothing is measured, and waits until it ends. */
import { sleep } from 'k6';
import { now } from './clock.js';
import { tryAsk } from './meter.js';
import { disturbances } from 'k6/x/windtunnel/judge';

/** Duration of one CPU measurement, s. */
const LOOK_S = 0.5;
/** The longest wait for a quiet machine, s. */
export const PATIENCE_S = 12;

/** CPU use of each CPU now, measured by the sidecar; empty if the sidecar does not answer. @returns {import('k6/x/windtunnel/judge').CpuUsage[]} */
export function look() {
  const pid = Number(__ENV.GENERATOR_PID);
  const opened = tryAsk('POST', '/windows', {
    pids: pid ? { k6: pid } : {},
    sidecar: true,
    peaks: false,
    by_cpu: true,
  });
  if (!opened) return [];
  sleep(LOOK_S);
  return tryAsk('POST', `/windows/${opened.id}/close`, {})?.host.by_cpu ?? [];
}

/**
 * Waits until no other program disturbs the CPUs.
 * @param {import('k6/x/windtunnel/judge').Placement | undefined} placement
 * @param {number} mostMs longest wait
 * @param {() => import('k6/x/windtunnel/judge').CpuUsage[]} [looking]
 * @returns {boolean} whether the CPUs became quiet
 */
export function awaitQuiet(placement, mostMs, looking = look) {
  const until = now() + Math.min(mostMs, PATIENCE_S * 1000);
  while (now() < until) if (disturbances(looking(), placement).length === 0) return true;
  return false;
}
