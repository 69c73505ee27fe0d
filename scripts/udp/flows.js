/**
 * How many UDP associations does a SOCKS5 proxy carry at once, and how good is a call through one?
 *
 * quick: 1, 100, 1,000 and 5,000 associations, each to its own address at the far end, with 3 datagrams each while all are open. Then a
 * call: 50 datagrams a second for 30 s. Each level has its control beside it: sockets without a proxy.
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { CALL } from '../../lib/dataplane/call.js';
import { envCount, envList, envNumber, sizesOf } from '../../lib/profiles.js';
import { levelNames, measureCall, measureLevel } from '../../lib/udp/flows.js';
import { flowsSections } from '../../lib/udp/flows-shown.js';

const PROFILES = {
  smoke: { flows: '1,50,200', each: 2, seconds: 2 },
  quick: { flows: '1,100,1000,5000', each: 3, seconds: 30 },
  full: { flows: '1,100,1000,5000', each: 20, seconds: 300 },
};
/** In the sidecar: control connection, its socket for datagrams, and the far end's. */
const SOCKETS_EACH = 3;

const base = sizesOf(PROFILES, 'levels are tried one after the other, so that its shape does not apply');
const levels = [...new Set(envList('FLOWS', base.flows).map(Number))].sort((a, b) => a - b);
const most = Math.max(...levels);
const seconds = envCount('SECONDS', base.seconds);
const of = {
  each: envCount('DATAGRAMS', base.each),
  rate: envNumber('RATE', 'udp/flows'),
  payloadBytes: envCount('PAYLOAD_BYTES', 'udp/flows'),
  timeoutMs: envCount('TIMEOUT_MS', 'udp/flows'),
};

/** @param {number} level */
function rows(level) {
  const [datagram, first] = levelNames(level);
  return {
    ...withControl(datagram, {
      title: `Datagram, ${level} ${level === 1 ? 'association' : 'associations'} open`,
      loop: 'open',
      latencyIs: 'from the intended send time to the answer received',
      least: level * of.each,
    }),
    ...withControl(first, {
      title: `First round trip of each of ${level}`,
      latencyIs: 'from the first datagram of an association to the first answer',
      series: 'first',
    }),
  };
}

const script = planeScenario({
  system: 'udp',
  name: 'flows',
  title: 'Many UDP associations at once through SOCKS5, and a call',
  // The last round is the call.
  load: roundsLoad(equalRounds(levels.length + 1)),
  echo: 'events',
  destinations: most,
  connections: most,
  socketsEach: SOCKETS_EACH,
  reaches: ['udp'],
  parameters: {
    flows: levels.join(','),
    datagrams_each: of.each,
    datagrams_per_s: of.rate,
    call_seconds: seconds,
    payload_bytes: of.payloadBytes,
    timeout_ms: of.timeoutMs,
  },
  operations: Object.assign({}, ...levels.map(rows), {
    ...withControl('call', {
      title: `Datagram of a call, ${CALL.rate} a second`,
      loop: 'open',
      latencyIs: 'from the intended send time to the answer received',
      least: CALL.rate * seconds,
    }),
  }),
  round(_round, index, plane) {
    if (index < levels.length) measureLevel(plane, levels[index], index, of);
    else measureCall(plane, seconds, of);
  },
  more: () => ({ sections: flowsSections() }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
