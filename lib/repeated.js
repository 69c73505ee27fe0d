/** Parts of a run that were measured again, as others disturbed them. */
import { disturbancesOf } from './placement-load.js';

/**
 * @typedef {{ name: string, duration_s: number, by_cpu: import('./placement-load.js').CpuUsage[], dropped: boolean }} Part
 *   of the measuring window, as the sidecar tells it
 * @typedef {object} Repeated
 * @property {string} part
 * @property {number} times that it was thrown away
 * @property {number} thrown_away_s that these lasted
 * @property {import('./placement-load.js').Disturbance[]} disturbed_by the most of each CPU in what was thrown away
 * @property {boolean} settled whether the measurement that counts was left alone
 */

/** @param {Part[]} parts those that were thrown away, and those that count in their place @param {import('./placement-load.js').Cpus} placement @returns {Repeated[]} */
export function repeatedOf(parts, placement) {
  const names = [...new Set(parts.map(({ name }) => name))];
  return names.map((name) => {
    const own = parts.filter((part) => part.name === name);
    const thrown = own.filter(({ dropped }) => dropped);
    const counts = own.filter(({ dropped }) => !dropped);
    const seconds = thrown.reduce((sum, { duration_s: duration }) => sum + duration, 0);
    return {
      part: name,
      times: thrown.length,
      thrown_away_s: Math.round(seconds * 1000) / 1000,
      disturbed_by: worst(thrown.flatMap(({ by_cpu: byCpu }) => disturbancesOf(byCpu, placement))),
      settled:
        counts.length > 0 &&
        counts.every(({ by_cpu: byCpu }) => disturbancesOf(byCpu, placement).length === 0),
    };
  });
}

/** Of each CPU. @param {import('./placement-load.js').Disturbance[]} all */
function worst(all) {
  const taken = (/** @type {import('./placement-load.js').Disturbance} */ one) =>
    one.others_percent + one.steal_percent;
  const sorted = [...all].sort((a, b) => taken(b) - taken(a));
  return sorted
    .filter(({ cpu }, index) => sorted.findIndex((other) => other.cpu === cpu) === index)
    .sort((a, b) => Number(a.cpu) - Number(b.cpu));
}

/** One line for the terminal; none where nothing was. @param {Repeated[] | undefined} repeated */
export function repeatedLine(repeated = []) {
  if (repeated.length === 0) return [];
  const parts = repeated.length === 1 ? '1 part was' : `${repeated.length} parts were`;
  const [first] = repeated;
  const more = repeated.length > 1 ? ` and ${repeated.length - 1} more` : '';
  const still = repeated.filter(({ settled }) => !settled).length;
  return [
    `${parts} measured again, as others used their CPUs: ${first.part}${more}${still ? `; ${still} of them disturbed to the end` : ''}`,
  ];
}
