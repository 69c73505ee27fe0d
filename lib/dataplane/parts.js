/** Parts of the run's measuring window (sidecar/README.md). */
import { look } from '../quiet.js';
import { tryAsk } from './meter.js';

/**
 * @typedef {import('k6/x/windtunnel/judge').CpuUsage} CpuUsage
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
  look,
});
