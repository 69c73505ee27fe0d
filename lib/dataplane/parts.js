/** Parts of the run's measuring window (sidecar/README.md). */
import { look } from '../quiet.js';
import { tryAsk } from '../meter.js';

/**
 * @typedef {import('k6/x/windtunnel/judge').CpuUsage} CpuUsage
 * @typedef {object} Machine the measuring window that is divided into parts
 * @property {(name: string) => boolean} begin starts a part; false: the run has no window
 * @property {() => CpuUsage[]} used CPU use in the part so far
 * @property {() => boolean} drop discards the part's measurements; false: the part counts anyway
 * @property {() => CpuUsage[]} look measures the CPU use now, which takes a while
 */

/** @param {string | null} window @returns {Machine} */
export const partsOf = (window) => ({
  begin: (name) => window !== null && tryAsk('POST', `/windows/${window}/part`, { name }) !== null,
  used: () => tryAsk('GET', `/windows/${window}/part`)?.by_cpu ?? [],
  drop: () => tryAsk('DELETE', `/windows/${window}/part`) !== null,
  look,
});
