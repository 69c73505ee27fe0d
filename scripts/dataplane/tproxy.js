/**
 * What does a transparent proxy (TPROXY) cost between a client and a server, and which size of its queue carries datagrams best?
 *
 * quick: 2,000 TCP round trips of 1,024 bytes; bursts of 8,000 datagrams of 512 bytes, 4 with one in flight and 4 with 32; each
 * beside the same load routed past the proxy, over the same links. Then a sweep: 12 runs of a burst for each of VALUES of the
 * testbed's variable SWEEP, with new networks and processes. The testbed creates network namespaces, which needs root or
 * `unshare -Ur`.
 */
import { loadTransparent } from '../../lib/dataplane/environment.js';
import { stopFresh } from '../../lib/dataplane/fresh.js';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { sweepSizes } from '../../lib/dataplane/sweep-rounds.js';
import { startFarEnds, stopFarEnds, viasOf } from '../../lib/dataplane/transparent.js';
import { TransparentSweep } from '../../lib/dataplane/transparent-sweep.js';
import { envCount } from '../../lib/profiles.js';

const SIZES = {
  smoke: { rounds: 2, roundTrips: 400, datagrams: 1000, runs: 1 },
  quick: { rounds: 4, roundTrips: 2000, datagrams: 8000, runs: 12 },
  full: { rounds: 10, roundTrips: 20000, datagrams: 8000, runs: 20 },
};
const TCP_BYTES = 1024;

const base = sweepSizes(SIZES);
const sweep = (__ENV.SWEEP || 'none') === 'none' ? null : new TransparentSweep(base.runs);
const roundTrips = Math.ceil(envCount('ROUND_TRIPS', base.roundTrips) / base.rounds);
const datagrams = envCount('DATAGRAMS', base.datagrams);
const payloadBytes = envCount('PAYLOAD_BYTES', 'dataplane/tproxy');
const window = envCount('WINDOW', 'dataplane/tproxy');
const timeoutMs = envCount('TIMEOUT_MS', 'dataplane/tproxy');

const environment = loadTransparent();
const instance = __ENV.INSTANCE;

const trips = { kind: 'tcp', payload_bytes: TCP_BYTES, count: roundTrips };
const single = {
  kind: 'udp',
  payload_bytes: payloadBytes,
  window: 1,
  timeout_ms: timeoutMs,
  count: datagrams,
};
const burst = { ...single, window };

const datagramIs = 'from the datagram sent to its answer received';
/** A row for bursts. A queue that is too small drops datagrams. @param {string} title @param {number} failed largest allowed share */
const burstRow = (title, failed) => ({
  title,
  latencyIs: datagramIs,
  saturates: window > 1,
  bounds: { failed, errors: undefined },
});

const script = planeScenario({
  name: 'tproxy',
  title: 'A transparent proxy between two networks',
  reaches: ['tcp', 'udp'],
  environment,
  load: roundsLoad(equalRounds(base.rounds + (sweep?.rounds ?? 0), datagrams)),
  parameters: {
    rounds: base.rounds,
    round_trips: roundTrips * base.rounds,
    tcp_payload_bytes: TCP_BYTES,
    datagrams,
    payload_bytes: payloadBytes,
    window,
    timeout_ms: timeoutMs,
    ...sweep?.parameters,
  },
  operations: {
    ...withControl('tcp', {
      title: 'TCP round trip',
      latencyIs: 'from the first byte sent to the last byte of the answer received',
      bounds: { 'p(95)': 50 },
      least: roundTrips * base.rounds,
    }),
    ...withControl('udp', {
      title: 'UDP, one in flight',
      latencyIs: datagramIs,
      bounds: { 'p(95)': 50 },
      least: datagrams * base.rounds,
    }),
    ...withControl('udp_burst', {
      ...burstRow(`UDP, ${window} in flight`, 0.05),
      headline: 'mbit_per_s',
    }),
    ...sweep?.operationsBeside(burstRow('', 0.5), burstRow('direct, in the sweep', 0.01)),
  },
  // The run's window watches the given instance, which the sweep does not use.
  notes: sweep ? ['the generator’s CPU and the processes are those of the rounds before the sweep'] : [],
  prepare: () => ({ ...sweep?.findTestbed(), ends: startFarEnds(environment, instance) }),
  vias: ({ ends, window: measuring }) => viasOf(ends, instance, measuring),
  round(_round, index, plane) {
    if (index < base.rounds) {
      plane.pair(index, ['tcp'], trips);
      plane.pair(index, ['udp'], single);
      plane.pair(index, ['udp_burst'], burst);
    } else sweep?.round(environment, plane, index - base.rounds, burst);
  },
  end({ found, ends }) {
    if (found) stopFresh(found);
    stopFarEnds(ends);
  },
  more: (_metrics, { found }) => ({ sections: sweep && found ? [sweep.section(found)] : [] }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
