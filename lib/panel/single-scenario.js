/** The scenarios of one kind of request per iteration, each on a user of its own. */
import { loopOperations } from '../loops.js';
import { envCount, requestLoad } from '../profiles.js';
import { defaultNumber } from '../variables.js';

/** For a panel on two small cores; docs/how-to/panel.md tells how others are meant to set theirs. */
const BOUNDS = { 'p(95)': 5000 };

/**
 * @param {string} name of the scenario
 * @param {{ smoke: number, quick: number }} base
 * @param {(load: import('../profiles.js').Load) => Record<string, string>} titlesFor of the operations by name, the
 *   main one first
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
          // How many are through, and so on their way back, is the panel's speed.
          optional: operation !== main,
        }),
      ),
    ),
  };
}
