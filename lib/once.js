/** The load of a scenario that one virtual user runs once, since two would disturb each other. A shape (soak and so on) has full's size. */
import { currentProfile, loadOf, sizedProfile } from './profiles.js';

/**
 * @template T
 * @param {Record<import('./profiles.js').Sized, T>} sizes
 * @returns {{ load: import('./profiles.js').Load, size: T }}
 */
export function onceLoad(sizes) {
  const sized = sizedProfile();
  const closed = /** @type {const} */ ({ executor: 'per-vu-iterations', vus: 1, iterations: 1 });
  return {
    size: sizes[sized ?? 'full'],
    load: loadOf({
      scenarios: { closed: { ...closed, maxDuration: '10m', gracefulStop: '120s' } },
      iterations: 1,
      iterationsEach: 1,
      notes: sized ? [] : [`${currentProfile()}: this scenario runs once, with the size of full`],
    }),
  };
}
