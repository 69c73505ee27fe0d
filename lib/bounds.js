/** The bounds that judge a scenario's operations. Bounds of the environment override bounds of the scenario. */
import { fixedProfile } from './profiles.js';

/** @typedef {import('./environment.js').Bounds} Bounds */

/** Default bounds of a short run. */
const SHORT_RUN = /** @type {Bounds} */ ({ failed: 0, errors: 0 });
/** Matches names of latency bounds. */
const LATENCIES = /^(p\(|avg|med|max|min)/;
/** @param {string} name of a bound */
export const isOfLatency = (name) => LATENCIES.test(name);

/** Default bounds of a long run: on a shared network, a few failures are normal. */
const LONG_RUN = /** @type {Bounds} */ ({ failed: 0.001, anomalies: 0 });

/** Key of the comment that an environment file may give beside its bounds. */
const WHY = 'why';

/**
 * @param {import('./scenario.js').Definition} definition
 * @returns {Record<string, Bounds>} of each operation
 */
export function boundsOf(definition) {
  const base = fixedProfile() ? SHORT_RUN : LONG_RUN;
  const overrides = definition.environment.thresholds[definition.name] ?? {};
  // An environment may bound a loop that this profile does not run.
  const loopsOf = (/** @type {string} */ name) => [name, `${name}_open`, name.replace(/_open$/, '')];
  const unknown = Object.keys(overrides).find(
    (name) => !loopsOf(name).some((one) => one in definition.operations),
  );
  if (unknown) {
    throw `thresholds.${definition.name}.${unknown}: no such operation; there are ${Object.keys(definition.operations).join(', ')}`;
  }
  return Object.fromEntries(
    Object.entries(definition.operations).map(([name, { bounds }]) => {
      const all = { ...base, ...bounds, ...overrides[name] };
      delete all[WHY];
      return [name, all];
    }),
  );
}
