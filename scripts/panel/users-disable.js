/**
 * How fast does the panel disable active users?
 *
 * quick: 500 users, 50 clients, each user once. From full on also in an open loop, at a
 * fixed RATE; users that are all disabled are enabled again, as a row of its own.
 */
import { switchScenario } from '../../lib/panel/switch-scenario.js';

const script = switchScenario({
  name: 'users-disable',
  title: 'SWITCH active -> disabled',
  to: 'disabled',
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
