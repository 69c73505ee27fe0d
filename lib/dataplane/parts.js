/** Parts of the run's measuring window (sidecar/README.md), and how busy others keep the CPUs while nothing measures. */
import { sleep } from 'k6';
import { tryAsk } from './meter.js';

/** How long one look at the CPUs takes. */
const LOOK_S = 0.5;

/**
 * @typedef {import('../placement-load.js').CpuUsage} CpuUsage
 * @typedef {object} Machine where parts are measured
 * @property {(name: string) => boolean} begin a part; false where there are none
 * @property {() => CpuUsage[]} used who used each CPU in the part so far
 * @property {() => boolean} drop what it has measured; false where it counts all the same
 * @property {() => CpuUsage[]} look who uses each CPU now; takes a while
 */

/** @param {string | null} window @returns {Machine} */
export const partsOf = (window) => ({
  begin: (name) => window !== null && tryAsk('POST', `/windows/${window}/part`, { name }) !== null,
  used: () => tryAsk('GET', `/windows/${window}/part`)?.by_cpu ?? [],
  drop: () => tryAsk('DELETE', `/windows/${window}/part`) !== null,
  look() {
    const pid = Number(__ENV.GENERATOR_PID);
    const pids = pid ? { k6: pid } : {};
    const opened = tryAsk('POST', '/windows', { pids, sidecar: true, peaks: false, by_cpu: true });
    sleep(LOOK_S);
    return (opened && tryAsk('POST', `/windows/${opened.id}/close`, {})?.host.by_cpu) ?? [];
  },
});
