/**
 * What does a proxy cost while nothing goes on?
 *
 * quick: 30 s of nothing at all, 60 s of 100 idle tunnels, and 60 s of 100 idle UDP associations: a keep-alive may come each 15, 30 or
 * 60 s. For each the sidecar counts CPU time, wake-ups, and packets on the wire. Own memory for each tunnel and association comes from new
 * processes.
 */
import { stop } from '../../lib/execution.js';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { findOwn, stopOwn } from '../../lib/dataplane/tunnel-memory.js';
import { envCount, envNumber, sizesOf } from '../../lib/profiles.js';
import { foundOf, measureMemory, measureState, statesOf } from '../../lib/footprint/idle.js';
import { idleFacts, idleSections } from '../../lib/footprint/idle-shown.js';

const PROFILES = {
  smoke: { rounds: 1, memories: 1, nothing: 1.5, seconds: 1.5, tunnels: 50, associations: 50 },
  quick: { rounds: 1, memories: 3, nothing: 30, seconds: 60, tunnels: 100, associations: 100 },
  full: { rounds: 3, memories: 6, nothing: 400, seconds: 400, tunnels: 200, associations: 200 },
};

const base = sizesOf(PROFILES, 'nothing goes on, so that the shape of a load does not apply');
const tunnels = envCount('IDLE_TUNNELS', base.tunnels);
const associations = envCount('IDLE_ASSOCIATIONS', base.associations);
const seconds = envNumber('IDLE_S', base.seconds);
/** Time of the state "nothing at all". */
const nothing = envNumber('IDLE_S', base.nothing);
const most = {
  cpuMs: envNumber('IDLE_CPU_MS', 'footprint/idle'),
  wakeups: envNumber('IDLE_WAKEUPS', 'footprint/idle'),
  bytes: envNumber('IDLE_BYTES', 'footprint/idle'),
};
const states = statesOf({ tunnels, associations });
const held = states.filter(({ direct }) => !direct);
const steps = [
  ...Array.from({ length: base.rounds }, () => states.map((state) => ({ state, memory: false }))),
  ...Array.from({ length: base.memories }, () => held.map((state) => ({ state, memory: true }))),
].flat();

const script = planeScenario({
  system: 'footprint',
  name: 'idle',
  title: 'What a proxy costs while nothing goes on',
  load: roundsLoad(equalRounds(steps.length)),
  echo: 'events',
  reaches: ['tcp', 'udp'],
  connections: Math.max(tunnels, associations),
  socketsEach: 3,
  parameters: { idle_s: seconds, tunnels, associations, rounds: base.rounds },
  operations: {
    tunnel: {
      title: 'First round trip of a tunnel, before it is idle',
      latencyIs: 'from sending 64 bytes to their return',
      headline: 'p50',
      least: base.rounds * tunnels,
    },
    datagram: {
      title: 'First datagram of an association, before it is idle',
      loop: 'open',
      latencyIs: 'from the intended send time to the answer received',
      least: base.rounds * associations,
    },
  },
  prepare() {
    const found = findOwn();
    if (!found)
      stop(
        'footprint/idle reads the processes of the proxy, which only a testbed names: give TESTBED=sing-box or another',
      );
    return { found };
  },
  round(_round, index, plane) {
    const { state, memory } = steps[index];
    if (memory) measureMemory(plane, state, plane.data.found);
    else measureState(plane, state, state.direct ? nothing : seconds);
  },
  end: ({ found }) => stopOwn(found),
  facts: () => idleFacts(foundOf(states), most),
  more: () => ({ sections: idleSections(foundOf(states), most) }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
