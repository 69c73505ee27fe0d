/** Scenarios with one kind of request per iteration, each on a different user. */
import { loopOperations } from '../loops.js';
import { envCount, requestLoad } from '../profiles.js';
import { defaultNumber } from '../variables.js';

/** Bound for a panel on two small cores, ms. docs/how-to/panel.md explains how to set other bounds. */
const BOUNDS = { 'p(95)': 5000 };

/**
 * @param {string} name of the scenario
 * @param {{ smoke: number, quick: number }} base
 * @param {(load: import('../profiles.js').Load) => Record<string, string>} titlesFor titles of the operations by name, the
 *   main operation first
 */
export function singleRequests(name, base, titlesFor) {
  const clients = 50;
  const load = requestLoad({ clients, ...base, rate: defaultNumber('RATE', `panel/${name}`) }, 'USERS');
  const titles = titlesFor(load);
  const [main] = Object.keys(titles);
  return {
    load,
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
