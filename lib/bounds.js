/** What the operations of a scenario are judged by: its own bounds, with those of the environment over them. */
import { fixedProfile } from './profiles.js';

/** @typedef {import('./environment.js').Bounds} Bounds */

/** Base of every run; a scenario and an environment only say what differs. */
const SHORT_RUN = /** @type {Bounds} */ ({ failed: 0, errors: 0 });
/** Names of bounds on how long something takes. */
const LATENCIES = /^(p\(|avg|med|max|min)/;
/** @param {string} name of a bound */
export const isOfLatency = (name) => LATENCIES.test(name);

/** In long runs on a shared network a stray failure is no verdict. */
const LONG_RUN = /** @type {Bounds} */ ({ failed: 0.001, anomalies: 0 });

/** The reason of an environment's bounds, for who reads the file. */
const WHY = 'why';

/** @param {string} key @param {Bounds} bounds @returns {Bounds} */
const without = (key, bounds) => Object.fromEntries(Object.entries(bounds).filter(([name]) => name !== key));

/**
 * @param {import('./scenario.js').Definition} definition
 * @returns {Record<string, Bounds>} of each operation
 */
export function boundsOf(definition) {
  const base = fixedProfile() ? SHORT_RUN : LONG_RUN;
  const own = definition.environment.thresholds[definition.name] ?? {};
  // Bounds of a loop that the profile does not have do not apply, but are no mistake.
  const loopsOf = (/** @type {string} */ name) => [name, `${name}_open`, name.replace(/_open$/, '')];
  const unknown = Object.keys(own).find((name) => !loopsOf(name).some((one) => one in definition.operations));
  if (unknown) {
    throw `thresholds.${definition.name}.${unknown}: no such operation; there are ${Object.keys(definition.operations).join(', ')}`;
  }
  return Object.fromEntries(
    Object.entries(definition.operations).map(([name, { bounds }]) => [
      name,
      without(WHY, { ...base, ...bounds, ...own[name] }),
    ]),
  );
}
