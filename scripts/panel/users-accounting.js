/**
 * Does the panel charge its users for what they moved?
 *
 * Each user moves a known number of bytes through the panel's Shadowsocks inbound (PANEL_INBOUND), with the user's own key. Then
 * `used_traffic` must say so. In the end the core and the panel are restarted in mid-transfer.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { onceLoad } from '../../lib/once.js';
import { Operation } from '../../lib/operations.js';
import { accountPanel } from '../../lib/panel/accounting.js';
import { inboundOf } from '../../lib/panel/data-plane.js';
import { namesOf, panelScenario } from '../../lib/panel/scenario.js';
import { envCount } from '../../lib/profiles.js';
import { sectionOf } from '../../lib/section.js';
import { present } from '../../lib/sidecar.js';
import { chargeFacts, chargeSection, lostBy, restartWords } from '../../lib/users/accounting-shown.js';
import { PROFILES } from '../../lib/users/traffic.js';

const { load, size } = onceLoad(PROFILES);
const sizes = { ...size, users: envCount('USERS', size.users) };
const inbound = inboundOf() ?? '';
const NOTE = 'charges';
const nameOf = namesOf('charged');
const charged = new Operation('charged');
/** @returns {import('../../lib/panel/accounting.js').Figures | undefined} */
const found = () => said()[NOTE];

/** @param {import('../../lib/panel/accounting.js').Figures} figures */
const restartSection = ({ restarts, delay_ms: delay, without_udp: without }) =>
  sectionOf({
    name: 'restarts',
    title: 'Restarts in mid-transfer',
    columns: [
      ['what', 'Restart of', 'text'],
      ['due', 'Moved until then', 'bytes'],
      ['moved', 'In mid-transfer', 'bytes'],
      ['lost', 'Lost', 'bytes', lostBy, { compare: 'lower' }],
      ['ended', 'Connections that ended', 'count'],
    ],
    rows: restarts,
    finding: restarts.map((one) => restartWords({ ...one, open: null }, one.what)).join(' '),
    notes: [
      `${delay === null ? 'Not all users were charged in time' : `All users were charged ${(delay / 1000).toFixed(2)} s after the end of the traffic`}. The panel asks the core at an interval, which is the most that a right panel needs. A loss by a restart is reported, not judged.`,
      restarts.length < 2 && 'The panel was not restarted: PANEL_RESTART_URL is not set.',
      without !== null && `The users moved no UDP: ${without}.`,
    ],
  });

const script = panelScenario({
  name: 'users-accounting',
  title: 'What users are charged',
  load,
  clients: 1,
  parameters: sizes,
  operations: {
    charged: {
      title: 'All users charged',
      latencyIs: 'from the end of the traffic to the first list that charges all users right',
      primary: 'p50',
      least: 1,
    },
    connection: {
      title: 'Connection of a user',
      latencyIs: 'from the dial to the last byte of our far end',
      least: sizes.users,
    },
    datagrams: {
      title: 'Datagrams of a user',
      latencyIs: 'from the first one sent to the echo of the last one',
      optional: true,
    },
  },
  sections: () => {
    const figures = found();
    return figures ? [chargeSection(figures), restartSection(figures)] : [];
  },
  facts: () => chargeFacts(found()),
  prepare(panel, session) {
    if (!inbound)
      throw new Error(
        'panel/users-accounting: set PANEL_INBOUND to the address of the Shadowsocks inbound: ss://127.0.0.1:PORT',
      );
    if (!present()) throw new Error('panel/users-accounting: there is no sidecar, which moves the bytes');
    panel.createAll(
      session,
      Array.from({ length: sizes.users }, (_, index) => nameOf(session.runId, index)),
    );
  },
  iterate({ panel, data }) {
    const figures = accountPanel(panel, data, inbound, sizes, ({ from, at }) => {
      if (at === null) charged.failure('timeout', from, from);
      else charged.success(from, at);
    });
    say(NOTE, figures);
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.closedLoop;
