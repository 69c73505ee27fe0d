/**
 * How fast does the panel create users?
 *
 * quick: 500 users, 50 clients. Profiles from full on add an open loop at a fixed RATE.
 */
import { namesOf, panelScenario } from '../../lib/panel/scenario.js';
import { singleRequests } from '../../lib/panel/single-scenario.js';

const nameOf = namesOf('create');
const script = panelScenario({
  ...singleRequests('users-create', { smoke: 100, quick: 500 }, () => ({ create: 'POST a user' })),
  name: 'users-create',
  title: 'CREATE users',
  iterate({ panel, data, unique, measure }) {
    const user = nameOf(data.runId, unique);
    measure('create', () => panel.create(data, user), panel.holds('username', user));
  },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
