/**
 * Which value of a testbed's variable carries datagrams best?
 *
 * quick: 12 runs of each of VALUES for the variable SWEEP, in random order. Each run has new processes, and sends 6,000 datagrams
 * of 512 bytes, 32 in flight, beside the same direct. Other values must beat the testbed's default value. The scenario starts
 * a new testbed for each run.
 */
import { proxyOf, stopFresh } from '../../lib/dataplane/fresh.js';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { partName, planeScenario } from '../../lib/dataplane/scenario.js';
import { SweepRounds, sweepSizes } from '../../lib/dataplane/sweep-rounds.js';
import { envCount } from '../../lib/profiles.js';

const SIZES = {
  smoke: { runs: 2, datagrams: 1000 },
  quick: { runs: 12, datagrams: 6000 },
  full: { runs: 20, datagrams: 20000 },
};
const CONTROL = 'direct';

const base = sweepSizes(SIZES);
const sweep = new SweepRounds(base.runs);
const datagrams = envCount('DATAGRAMS', base.datagrams);
const payloadBytes = envCount('PAYLOAD_BYTES', 'dataplane/queue-sweep');
const window = envCount('WINDOW', 'dataplane/queue-sweep');
const timeoutMs = envCount('TIMEOUT_MS', 'dataplane/queue-sweep');

const burst = { kind: 'udp', payload_bytes: payloadBytes, window, timeout_ms: timeoutMs, count: datagrams };
const row = {
  latencyIs: 'from the datagram sent to its answer received',
  saturates: window > 1,
  // The values are compared by their loss, so loss is no failure.
  bounds: { failed: 0.5, errors: undefined },
};

const script = planeScenario({
  name: 'queue-sweep',
  title: `UDP by ${sweep.variable}`,
  reaches: ['udp'],
  load: roundsLoad(equalRounds(sweep.rounds, datagrams)),
  parameters: {
    ...sweep.parameters,
    datagrams,
    payload_bytes: payloadBytes,
    window,
    timeout_ms: timeoutMs,
  },
  operations: {
    ...sweep.operations({ ...row, title: '', control: CONTROL }),
    [CONTROL]: { ...row, title: 'direct', bounds: { failed: 0.01, errors: undefined } },
  },
  prepare: () => sweep.findTestbed(),
  ownInstances: true,
  round(_round, index, plane) {
    const { found, runId, window: usageWindow } = plane.data;
    const turn = sweep.turn(index, runId);
    const direct = () => plane.probe([CONTROL], plane.direct, burst);
    const through = () =>
      sweep.run(turn, found, (instance) => {
        const via = { proxy: proxyOf(instance), instance: instance.id, usage_window: usageWindow };
        return plane.probe([turn.operation], via, burst);
      });
    const steps = index % 2 === 0 ? [direct, through] : [through, direct];
    plane.part(partName(turn.operation, index), () => steps.forEach((step) => step()));
  },
  end: ({ found }) => stopFresh(found),
  more: (_metrics, { found }) => ({ sections: [sweep.section(found)] }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
