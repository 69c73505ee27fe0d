/** What a request load's loops are called in tables and parameters. */

/**
 * The rows of a scenario that publishes: `publish` for the closed loop, `publish_open` for
 * the open one, as far as the profile has them.
 * @param {import('./profiles.js').Load} load
 * @param {string} title
 * @param {number} least
 * @param {string} [items]
 */
export function loopOperations(load, title, least, items) {
  const closed = {
    title,
    latencyIs: 'from the first byte sent to the last byte received',
    bounds: { 'p(95)': 1000 },
    least,
    items,
  };
  const open = /** @type {const} */ ({
    ...closed,
    title: `${title}, open loop`,
    loop: 'open',
    latencyIs: 'from the intended send time to the last byte received',
  });
  return {
    ...(load.scenarios.closed ? { publish: { ...closed, owns: 'closed' } } : {}),
    ...(load.scenarios.open ? { publish_open: { ...open, owns: 'open' } } : {}),
  };
}

/** @param {import('./profiles.js').Load} load */
export const loadParameters = (load) => ({
  ...(load.iterations ? { iterations: load.iterations } : { seconds: load.seconds }),
  ...(load.schedule
    ? { peak_rate_per_s: Math.max(load.schedule.start, ...load.schedule.steps.map((step) => step.target)) }
    : {}),
});
