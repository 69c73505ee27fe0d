/** Whether others leave the CPUs alone while nothing is measured, and waiting until they do. */
import { sleep } from 'k6';
import { now } from './clock.js';
import { tryAsk } from './dataplane/meter.js';
import { disturbances } from 'k6/x/windtunnel/judge';

/** How long one look at the CPUs takes. */
const LOOK_S = 0.5;
/** A neighbour that lasts longer is not waited for. */
export const PATIENCE_S = 12;

/** Who uses each CPU now: a look by the sidecar, which takes a while. Nothing where it does not answer. @returns {import('k6/x/windtunnel/judge').CpuUsage[]} */
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
 * Waits until others leave the CPUs alone.
 * @param {import('k6/x/windtunnel/judge').Placement | undefined} placement
 * @param {number} mostMs that it may take
 * @param {() => import('k6/x/windtunnel/judge').CpuUsage[]} [looking]
 * @returns {boolean} whether they do
 */
export function awaitQuiet(placement, mostMs, looking = look) {
  const until = now() + Math.min(mostMs, PATIENCE_S * 1000);
  while (now() < until) if (disturbances(looking(), placement).length === 0) return true;
  return false;
}
