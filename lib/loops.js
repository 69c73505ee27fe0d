/** What a request load's loops are called in tables and parameters. */

/**
 * @typedef {object} Row of a single request
 * @property {string} title
 * @property {number} least items that a complete run of a fixed number of iterations carries
 * @property {string} [items] name of what a request carries, where it carries many
 * @property {boolean} [optional] a complete run may have none of it
 * @property {boolean} [alone] each iteration of the loop is such a request and nothing else
 */

/**
 * The rows of one kind of request: NAME for the closed loop, NAME_open for the open
 * one, as far as the profile has them.
 * @param {import('./profiles.js').Load} load
 * @param {string} name
 * @param {Row & { bounds?: import('./environment.js').Bounds }} row
 * @returns {Record<string, import('./scenario.js').Operations>}
 */
export function loopOperations(
  load,
  name,
  { title, least, items, alone, optional, bounds = { 'p(95)': 1000 } },
) {
  const closed = {
    title,
    latencyIs: 'from the first byte sent to the last byte received',
    bounds,
    least,
    items,
    ...(optional ? { optional } : {}),
  };
  const open = /** @type {const} */ ({
    ...closed,
    title: `${title}, open loop`,
    loop: 'open',
    latencyIs: 'from the intended send time to the last byte received',
  });
  return {
    ...(load.scenarios.closed ? { [name]: { ...closed, ...(alone ? { owns: 'closed' } : {}) } } : {}),
    ...(load.scenarios.open ? { [`${name}_open`]: { ...open, ...(alone ? { owns: 'open' } : {}) } } : {}),
  };
}

/** @param {import('./profiles.js').Load} load */
export const loadParameters = (load) => ({
  ...(load.iterations ? { iterations: load.iterations } : { seconds: load.seconds }),
  ...(load.schedule
    ? { peak_rate_per_s: Math.max(load.schedule.start, ...load.schedule.steps.map((step) => step.target)) }
    : {}),
});
