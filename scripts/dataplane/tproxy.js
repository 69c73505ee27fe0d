/**
 * What does a transparent proxy (TPROXY) cost between a client and a server, and which size of its queue
 * carries datagrams best?
 *
 * quick: TCP round trips of 1,024 bytes, 2,000 in all; bursts of 8,000 datagrams of 512 bytes, 4 with one in
 * flight and 4 with 32; each beside the same routed past the proxy, over the same links. Then a sweep: each
 * of VALUES of the testbed's variable SWEEP, 12 runs each of a burst, with networks and processes of its own.
 * Its testbed makes network namespaces: root, or `unshare -Ur`.
 */
import { loadTransparent } from '../../lib/dataplane/environment.js';
import { stopFresh } from '../../lib/dataplane/fresh.js';
import { roundsLoad } from '../../lib/dataplane/load.js';
import { partName, planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { SweepRounds, sweepSizes } from '../../lib/dataplane/sweep-rounds.js';
import { startFarEnds, stopFarEnds, viasOf } from '../../lib/dataplane/transparent.js';
import { envCount } from '../../lib/profiles.js';

const SIZES = {
  smoke: { rounds: 2, roundTrips: 400, datagrams: 1000, runs: 2 },
  quick: { rounds: 4, roundTrips: 2000, datagrams: 8000, runs: 12 },
  full: { rounds: 10, roundTrips: 20000, datagrams: 8000, runs: 20 },
};
const TCP_BYTES = 1024;
const ROUTED = 'sweep_direct';

const base = sweepSizes(SIZES);
const sweep = (__ENV.SWEEP || 'none') === 'none' ? null : new SweepRounds(base.runs);
const roundTrips = Math.ceil(envCount('ROUND_TRIPS', base.roundTrips) / base.rounds);
const datagrams = envCount('DATAGRAMS', base.datagrams);
const payloadBytes = envCount('PAYLOAD_BYTES', 'dataplane/tproxy');
const window = envCount('WINDOW', 'dataplane/tproxy');
const timeoutMs = envCount('TIMEOUT_MS', 'dataplane/tproxy');

const environment = loadTransparent();
const instance = __ENV.INSTANCE;

/** @param {number} inFlight */
const burst = (inFlight) => ({
  kind: 'udp',
  payload_bytes: payloadBytes,
  window: inFlight,
  timeout_ms: timeoutMs,
  count: datagrams,
});

const datagramIs = 'from the datagram sent to its answer received';
const burstRow = {
  latencyIs: datagramIs,
  saturates: window > 1,
  // Where a queue is too small it drops.
  bounds: { failed: 0.05, errors: undefined },
};

const script = planeScenario({
  name: 'tproxy',
  title: 'A transparent proxy between two networks',
  reaches: ['tcp', 'udp'],
  environment,
  load: roundsLoad(
    Array.from({ length: base.rounds + (sweep?.rounds ?? 0) }, () => ({
      loop: 'closed',
      count: datagrams,
      factor: 1,
    })),
  ),
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
      ...burstRow,
      title: `UDP, ${window} in flight`,
      headline: 'mbit_per_s',
    }),
    ...(sweep && {
      ...sweep.operations({
        ...burstRow,
        title: '',
        bounds: { failed: 0.5, errors: undefined },
        control: ROUTED,
      }),
      [ROUTED]: { ...burstRow, title: 'direct, in the sweep', bounds: { failed: 0.01, errors: undefined } },
    }),
  },
  // The run's window is of the instance that it was given.
  notes: sweep ? ['the generator’s CPU and the processes are those of the rounds before the sweep'] : [],
  prepare: () => ({ ...sweep?.findTestbed(), ends: startFarEnds(environment, instance) }),
  vias: ({ ends, window: measuring }) => viasOf(ends, instance, measuring),
  round(_round, index, plane) {
    if (index >= base.rounds) {
      sweepRound(plane, index - base.rounds);
      return;
    }
    plane.pair(index, ['tcp'], { kind: 'tcp', payload_bytes: TCP_BYTES, count: roundTrips });
    plane.pair(index, ['udp'], burst(1));
    plane.pair(index, ['udp_burst'], burst(window));
  },
  end(data) {
    const { found, ends } = /** @type {any} */ (data);
    if (sweep) stopFresh(found);
    stopFarEnds(ends);
  },
  more: (_metrics, _rows, data) => (sweep ? { sweep: sweep.result(data.found) } : {}),
});

/**
 * A run of a value beside its control, in networks of their own.
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 * @param {number} index
 */
function sweepRound(plane, index) {
  const { found } = /** @type {any} */ (plane.data);
  const turn = /** @type {SweepRounds} */ (sweep).turn(index, plane.data.runId);
  // The run's window is of another instance: it only sees who uses the CPUs.
  const watched = { watched_by: plane.data.window };
  const through = (/** @type {import('../../lib/dataplane/fresh.js').Started} */ { id }) => {
    const { proxied, direct } = viasOf(startFarEnds(environment, id), id, null);
    const control = () => plane.probe([ROUTED], { ...direct, ...watched }, burst(window));
    if (index % 2 === 1) control();
    const measured = plane.probe([turn.operation], { ...proxied, ...watched }, burst(window));
    if (index % 2 === 0) control();
    return measured;
  };
  plane.part(partName(turn.operation, index), () => sweep?.run(turn, found, through));
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
