/**
 * What happens in the data plane while a panel changes users?
 *
 * quick: 50 flows of users whom nobody touches stay open. After 10 s in quiet the panel creates, disables, enables and deletes other
 * users, 8 a second for 40 s, in an open loop. Each change is tried at the proxy until it takes effect. 10,000 more users exist.
 */
import { GROUP, PanelLive } from '../../lib/panel/live.js';
import { panelScenario } from '../../lib/panel/scenario.js';
import { currentProfile } from '../../lib/profiles.js';
import { liveLoad, liveParameters, liveSizes } from '../../lib/users/live-plan.js';
import { LiveShown } from '../../lib/users/live-shown.js';

const sizes = liveSizes('panel/users-live');
const live = new PanelLive(sizes);
const shown = new LiveShown(live.plan);
const load = liveLoad(sizes);

const script = panelScenario({
  name: 'users-live',
  title: 'Users change while others talk',
  load,
  clients: load.scenarios.open ? 1 : 0,
  existing: currentProfile() === 'smoke' ? 0 : 10_000,
  tried: GROUP,
  parameters: liveParameters(sizes),
  operations: shown.operations(),
  prepare: (panel, session) => live.begin(panel, session),
  iterate: (turn) => (turn.open ? live.changeBy(turn) : live.follow(turn.data)),
  settle: (panel, data) => live.settleBy(panel, data),
  facts: () => shown.facts(),
  remarks: () => shown.notes(),
  sections: () => shown.sections(),
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
