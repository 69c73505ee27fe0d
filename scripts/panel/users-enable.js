/**
 * How fast does the panel enable disabled users?
 *
 * quick: 500 users, 50 clients, each user once. Profiles from full on add an open loop at a fixed RATE; when all users are
 * enabled, they are disabled again, as a separate row.
 */
import { panelScenario } from '../../lib/panel/scenario.js';
import { switching } from '../../lib/panel/switching.js';

const script = panelScenario(switching('users-enable', 'active'));

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
