/** The system at rest, before the load and after it. */
import { envNumber } from './variables.js';

/** For so long its processes are watched each time, seconds; 0: not at all. */
export const restSeconds = () => envNumber('REST_S');

/**
 * @typedef {{ cpu_percent: number, wakeups_per_s: number }} Figures CPU in per cent of one
 * @param {import('./sidecar.js').AtRest[] | null} before
 * @param {import('./sidecar.js').AtRest[] | null} after
 * @returns {{ name: string, before: Figures | null, after: Figures | null }[] | null} of each process; null where nobody looked
 */
export function restOf(before, after) {
  if (!before && !after) return null;
  const names = [...new Set([...(before ?? []), ...(after ?? [])].map(({ name }) => name))];
  const of = (/** @type {import('./sidecar.js').AtRest[] | null} */ all, /** @type {string} */ name) => {
    const found = (all ?? []).find((one) => one.name === name);
    return found ? { cpu_percent: found.cpu_percent, wakeups_per_s: found.wakeups_per_s } : null;
  };
  return names.map((name) => ({ name, before: of(before, name), after: of(after, name) }));
}
