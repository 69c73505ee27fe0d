/**
 * What happens in the data plane while a panel changes users?
 *
 * quick: 50 flows of users whom nobody touches stay open. After 10 s in quiet the panel creates, disables, enables and deletes other
 * users, 8 a second for 40 s, in an open loop. Each change is tried at the proxy until it takes effect. 10,000 more users exist.
 */
import { Live } from '../../lib/panel/live.js';
import { liveFacts, liveNotes, liveOperations, liveSections } from '../../lib/panel/live-shown.js';
import { KINDS, GROUP, liveLoad } from '../../lib/panel/live-plan.js';
import { panelScenario } from '../../lib/panel/scenario.js';
import { envCount, envNumber, sizesOf } from '../../lib/profiles.js';

const PROFILES = {
  smoke: { flows: 20, flowRate: 200, quiet: 1, seconds: 3, tail: 1, patience: 4, existing: 0 },
  quick: {
    flows: 50,
    flowRate: 500,
    quiet: 10,
    seconds: 40,
    tail: 5,
    patience: 10,
    existing: 10_000,
  },
  full: {
    flows: 200,
    flowRate: 1000,
    quiet: 60,
    seconds: 300,
    tail: 30,
    patience: 30,
    existing: 10_000,
  },
};

const base = sizesOf(PROFILES, 'changes come at one rate, so that its shape does not apply');
const sizes = {
  ...base,
  flows: envCount('OPEN_FLOWS', base.flows),
  seconds: envNumber('SECONDS', base.seconds),
  rate: Math.max(1, Math.round(envNumber('RATE', 'panel/users-live'))),
};
const live = new Live(sizes);
const load = liveLoad(sizes);

const script = panelScenario({
  name: 'users-live',
  title: 'Users change while others talk',
  load,
  clients: load.scenarios.open ? 1 : 0,
  existing: sizes.existing,
  tried: GROUP,
  parameters: { flows: sizes.flows, flow_rate_per_s: sizes.flowRate, quiet_s: sizes.quiet },
  operations: {
    ...liveOperations(),
    ...Object.fromEntries(
      KINDS.map((kind) => [
        `${kind}_open`,
        {
          title: `The panel's answer: ${kind}`,
          loop: /** @type {const} */ ('open'),
          latencyIs: 'from the intended send time to the last byte received',
        },
      ]),
    ),
  },
  prepare: (panel, session) => live.prepare(panel, session),
  iterate: (turn) => (turn.open ? live.change(turn) : live.follow(turn.data)),
  settle: (panel, data) => live.settle(panel, data),
  facts: liveFacts,
  remarks: liveNotes,
  sections: liveSections,
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
