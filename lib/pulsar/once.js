/** The load of a scenario that one virtual user runs once, since two would disturb each other. */
import { sizesOf } from '../profiles.js';

/**
 * @template T
 * @param {Record<import('../profiles.js').Sized, T>} sizes
 * @returns {{ load: import('../profiles.js').Load, size: T }}
 */
export function onceLoad(sizes) {
  const size = sizesOf(sizes, 'the scenario runs once, so that a shape does not apply');
  const closed = /** @type {const} */ ({ executor: 'per-vu-iterations', vus: 1, iterations: 1 });
  return {
    size,
    load: {
      scenarios: { closed: { ...closed, maxDuration: '10m', gracefulStop: '120s' } },
      iterations: 1,
      iterationsEach: 1,
      schedule: undefined,
      seconds: 0,
      notes: [],
      warmupSeconds: 0,
    },
  };
}
