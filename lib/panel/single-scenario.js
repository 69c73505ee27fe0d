/** Scenarios with one kind of request per iteration, each on a different user. */
import { loopOperations } from '../loops.js';
import { envCount, requestLoad } from '../profiles.js';
import { atOnce } from '../at-once.js';
import { defaultNumber } from '../variables.js';

/** Bound for a panel on two small cores, ms. docs/how-to/panel.md explains how to set other bounds. */
const BOUNDS = { 'p(95)': 5000 };

/**
 * Least iterations of a load beside another one. A panel's clients wait for each other's locks, so that the rate of a short load is mostly chance.
 * docs/benchmarks.md, "Noise", has figures.
 */
const AT_ONCE = 800;
const enough = (/** @type {number} */ iterations) => (atOnce ? Math.max(iterations, AT_ONCE) : iterations);

/**
 * @param {string} name of the scenario
 * @param {{ smoke: number, quick: number }} base
 * @param {(load: import('../profiles.js').Load) => Record<string, string>} titlesFor titles of the operations by name, the
 *   main operation first
 */
export function singleRequests(name, base, titlesFor) {
  const clients = 50;
  const rate = defaultNumber('RATE', `panel/${name}`);
  const load = requestLoad({ clients, smoke: enough(base.smoke), quick: enough(base.quick), rate }, 'USERS');
  const titles = titlesFor(load);
  const [main] = Object.keys(titles);
  return {
    load,
    atOnce: load.iterations !== undefined,
    clients: envCount('CLIENTS', clients),
    operations: Object.assign(
      {},
      ...Object.entries(titles).map(([operation, title]) =>
        loopOperations(load, operation, {
          title,
          least: load.iterations ?? 1,
          bounds: BOUNDS,
          // The panel's speed decides how many users are done and can be switched back.
          optional: operation !== main,
        }),
      ),
    ),
  };
}
