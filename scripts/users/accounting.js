/**
 * Are users charged for what they moved?
 *
 * Each user moves a known number of bytes, over many connections, one long one, TCP and UDP, or none. Then the statistics of
 * the server say what each user is charged. In the end the server is killed and started again in mid-transfer.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { Operation } from '../../lib/operations.js';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { envCount, sizesOf } from '../../lib/profiles.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { account } from '../../lib/users/accounting.js';
import { accountingSection, chargeFacts, chargeSection } from '../../lib/users/accounting-shown.js';
import { Statistics } from '../../lib/users/statistics.js';
import { baseOf } from '../../lib/users/testbed.js';
import { PROFILES } from '../../lib/users/traffic.js';

const NOTE = 'charges';

const profile = sizesOf(PROFILES, 'each user moves a fixed number of bytes');
const sizes = { ...profile, users: envCount('USERS', profile.users) };
if (sizes.users < 10) throw 'USERS: give at least 10, so that each kind of traffic has a user';
const statistics = new Statistics();
const charged = new Operation('charged');
/** @returns {import('../../lib/users/accounting.js').Figures | undefined} */
const found = () => said()[NOTE];

const script = planeScenario({
  ...startsRows,
  system: 'users',
  name: 'accounting',
  title: 'What users are charged',
  load: roundsLoad(equalRounds(1)),
  echo: 'events',
  parameters: sizes,
  operations: {
    charged: {
      title: 'All users charged',
      latencyIs: 'from the end of the traffic to the first statistics that charge all users right',
      primary: 'p50',
      least: 1,
    },
    connection: {
      title: 'Short connection',
      latencyIs: 'from the dial to the first byte of our far end',
      series: 'total',
      least: sizes.short,
    },
    transfer: {
      title: 'Long connection',
      latencyIs: 'from the first byte sent to the confirmation of the last one',
      series: 'transfer',
      least: 1,
    },
    trip: { title: 'Round trip', latencyIs: 'from a request sent to its echo received', least: 1 },
    datagram: { title: 'Datagram', latencyIs: 'from a datagram sent to its echo received', least: 1 },
  },
  prepare: () => ({ ...startsRows.prepare(), base: baseOf('users/accounting') }),
  round(_round, _index, plane) {
    const figures = account(plane, statistics, sizes, ({ from, at }) => {
      if (at === null) charged.failure('timeout', from, from);
      else charged.success(from, at);
    });
    say(NOTE, figures);
  },
  facts: () => chargeFacts(found()),
  more: () => {
    const figures = found();
    return { sections: figures ? [chargeSection(figures), accountingSection(figures)] : [] };
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
