/**
 * How does a UDP association of a SOCKS5 proxy behave, in the words of RFC 4787?
 *
 * Datagrams from and to several far ends show mapping, filtering, hairpinning, how long an idle mapping lives, and what the relay does
 * that RFC 1928 leaves open or forbids. Behaviours are reported. A pass needs whole round trips; NAT_TYPE also demands a NAT type.
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { envChoice, envCount, envList, sizesOf } from '../../lib/profiles.js';
import { measureNat } from '../../lib/udp/nat.js';
import { natSection } from '../../lib/udp/nat-shown.js';

const OPERATION = 'datagram';
/** Longest silence that the sidecar takes, ms. */
const STALL_MOST_MS = 60_000;
/** After this number of timeouts without an answer, none is awaited any more. */
const STALL_TIMEOUTS = 4;
const PROFILES = {
  smoke: { roundTrips: 40, idle: [1, 1.5, 2.5] },
  quick: { roundTrips: 400, idle: [2, 5, 9, 11, 15, 19, 21, 25, 29, 31, 35] },
  full: {
    roundTrips: 2000,
    idle: [5, 9, 11, 19, 29, 31, 45, 59, 61, 89, 119, 121, 179, 181, 239, 241, 299, 302, 330],
  },
};

const base = sizesOf(PROFILES, 'each idle time is tried once, so that its shape does not apply');
const roundTrips = envCount('ROUND_TRIPS', base.roundTrips);
const timeoutMs = envCount('TIMEOUT_MS', 'udp/nat');
const idleS = envList('IDLE', base.idle.join(',')).map(Number);
if (idleS.some((time) => !(time >= 0.1 && time <= 3000)))
  throw 'IDLE: give seconds from 0.1 to 3000, separated by commas';
const least = envChoice('NAT_TYPE');
const farEnds = envList('FAR_ENDS');
if (
  farEnds.length !== 2 ||
  farEnds[0] === farEnds[1] ||
  !farEnds.every((one) => /^\d{1,3}(\.\d{1,3}){3}$/.test(one))
)
  throw `FAR_ENDS=${farEnds.join(',')}: give two IPv4 addresses of this machine, separated by a comma`;

const script = planeScenario({
  system: 'udp',
  name: 'nat',
  title: 'Behaviour of SOCKS5 UDP associations (RFC 4787)',
  // The second round asks for the behaviours.
  load: roundsLoad(equalRounds(2)),
  reaches: ['association'],
  parameters: {
    round_trips: roundTrips,
    idle: idleS.join(','),
    timeout_ms: timeoutMs,
    far_ends: farEnds.join(','),
    nat_type: least,
  },
  operations: withControl(OPERATION, {
    title: 'Datagrams and associations',
    latencyIs: 'from the datagram sent to its answer received',
    least: roundTrips,
  }),
  round(_round, index, plane) {
    const datagrams = {
      kind: 'udp',
      payload_bytes: 64,
      count: roundTrips,
      window: 4,
      timeout_ms: timeoutMs,
      stall_ms: Math.min(STALL_MOST_MS, STALL_TIMEOUTS * timeoutMs),
    };
    if (index === 0) plane.pair(index, [OPERATION], datagrams);
    else measureNat(plane, OPERATION, { idleS, timeoutMs, farEnds, least });
  },
  more: () => ({ sections: [natSection(farEnds)] }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
