/**
 * What does a user's whole life cost: create, read, disable, enable, delete?
 *
 * quick: 500 users, 50 clients. The longer profiles vary the number of clients, so breakpoint finds the concurrency that the
 * panel cannot handle.
 */
import { namesOf, panelScenario } from '../../lib/panel/scenario.js';
import { clientLoad, envCount } from '../../lib/profiles.js';

const base = { clients: 50, smoke: 100, quick: 500, peak: 10 };
const load = clientLoad(base, 'USERS');
const nameOf = namesOf('lifecycle');

/** @param {string} title */
const row = (title) => ({
  title,
  latencyIs: 'from the first byte sent to the last byte received',
  bounds: { 'p(95)': 5000 },
  least: load.iterations,
});

const script = panelScenario({
  name: 'users-lifecycle',
  title: 'Life of a user',
  load,
  clients: envCount('CLIENTS', load.iterations ? base.clients : base.peak),
  operations: {
    create: row('POST a user'),
    read: row('GET a user'),
    disable: row('PUT status disabled'),
    enable: row('PUT status active'),
    delete: row('DELETE a user'),
  },
  iterate({ panel, data, unique, measure }) {
    const user = nameOf(data.runId, unique);
    const steps = [
      () => measure('create', () => panel.create(data, user), panel.holds('username', user)),
      () => measure('read', () => panel.read(data, user), panel.holds('username', user)),
      () =>
        measure('disable', () => panel.setStatus(data, user, 'disabled'), panel.holds('status', 'disabled')),
      () => measure('enable', () => panel.setStatus(data, user, 'active'), panel.holds('status', 'active')),
      () => measure('delete', () => panel.remove(data, user, 'active')),
    ];
    // Stop after a failed step: the later steps would measure something else.
    steps.every((step) => step());
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.closedLoop;
