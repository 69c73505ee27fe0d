/**
 * How fast does the panel enable disabled users?
 *
 * quick: 500 users, 50 clients, each user once. From full on also in an open loop, at a
 * fixed RATE; users that are all enabled are disabled again, as a row of its own.
 */
import { switchScenario } from '../../lib/panel/switch-scenario.js';

const script = switchScenario({ name: 'users-enable', title: 'SWITCH disabled -> active', to: 'active' });

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
