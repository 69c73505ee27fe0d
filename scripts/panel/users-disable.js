/**
 * How fast does the panel disable active users?
 *
 * quick: 500 users, 50 clients, each user once. Profiles from full on add an open loop at a fixed RATE; when all users are
 * disabled, they are enabled again, as a separate row.
 */
import { panelScenario } from '../../lib/panel/scenario.js';
import { switching, verbOf } from '../../lib/panel/switching.js';

const users = switching('users-disable', 'disabled');
const script = panelScenario({
  ...users.spec,
  title: 'SWITCH active -> disabled',
  iterate({ panel, data, measure }) {
    const { user, status, done } = users.next(data.runId);
    const switched = measure(
      verbOf(status),
      () => panel.setStatus(data, user, status),
      panel.holds('status', status),
    );
    if (switched) done();
  },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
