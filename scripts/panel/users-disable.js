/**
 * How fast does the panel disable active users?
 *
 * quick: 500 users, 50 clients, each user once. Profiles from full on add an open loop at a fixed RATE; when all users are
 * disabled, they are enabled again, as a separate row.
 */
import { panelScenario } from '../../lib/panel/scenario.js';
import { switching } from '../../lib/panel/switching.js';

const script = panelScenario(switching('users-disable', 'disabled'));

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
