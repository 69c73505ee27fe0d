/**
 * Which is the smallest memory in which a proxy carries a load?
 *
 * quick: 3 turns of 4 to 128 MiB in random order. Each starts the testbed anew inside of that limit, opens 32 tunnels at once and
 * carries 16 MiB over each. A level carries the load if each tunnel brings its bytes, at 20 Mbit/s or more together, and the kernel kills
 * nothing for memory. LIMITS=cpu:50% adds a quota of CPU.
 */
import { stopFresh, findTestbed } from '../../lib/dataplane/fresh.js';
import { stop } from '../../lib/execution.js';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { partName, planeScenario } from '../../lib/dataplane/scenario.js';
import { envCount, envList, envNumber, sizesOf } from '../../lib/profiles.js';
import { LARGEST, levelAt, levelsNow, limitsAt, measureLevel } from '../../lib/footprint/small.js';
import { smallFacts, smallSection } from '../../lib/footprint/small-shown.js';

const PROFILES = {
  smoke: { turns: 1, levels: [16, 64], tunnels: 8, mib: 1 },
  quick: { turns: 3, levels: [4, 8, 16, 32, 64, 128], tunnels: 32, mib: 16 },
  full: { turns: 10, levels: [4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256], tunnels: 128, mib: 16 },
};

const base = sizesOf(
  PROFILES,
  'levels of memory take turns under one load, so that its shape does not apply',
);
const levels = [...new Set(envList('LEVELS_MIB', base.levels.join(',')).map(Number))].sort((a, b) => a - b);
const turns = envCount('TURNS', base.turns);
const load = {
  tunnels: envCount('SMALL_TUNNELS', base.tunnels),
  mib: envCount('TRANSFER_MIB', base.mib),
  mbitPerS: envNumber('SMALL_MBIT', 'footprint/small'),
};
const largest = levels[levels.length - 1];
const most = __ENV.SMALL_MIB ? envCount('SMALL_MIB') : largest;
limitsAt(largest);

const script = planeScenario({
  system: 'footprint',
  name: 'small',
  title: 'The smallest memory in which a proxy carries a load',
  load: roundsLoad(equalRounds(levels.length * turns)),
  echo: 'events',
  reaches: ['tcp'],
  connections: load.tunnels,
  parameters: {
    levels_mib: levels.join(','),
    turns,
    tunnels: load.tunnels,
    transfer_mib: load.mib,
    mbit_per_s: load.mbitPerS,
  },
  operations: {
    [LARGEST]: {
      title: `Transfer at ${largest} MiB`,
      latencyIs: 'from the first byte sent to the confirmation of the last one, of one tunnel',
      series: 'transfer',
      headline: 'mbit_per_s',
      least: turns * load.tunnels,
    },
  },
  prepare() {
    if (!__ENV.INSTANCE)
      stop(
        'footprint/small starts the proxy again and again, which only a testbed can: give TESTBED=sing-box or another',
      );
    return { found: findTestbed() };
  },
  ownInstances: true,
  round(_round, index, plane) {
    const { mib, turn } = levelAt(levels, index, plane.data.runId);
    plane.part(partName(`${mib} MiB`, turn), () => measureLevel(plane, { mib, turn, largest }, load));
  },
  end: ({ found }) => stopFresh(found),
  facts: () => smallFacts(levelsNow(levels), { turns, load, most }),
  more: () => ({ sections: [smallSection(levelsNow(levels), { turns, load, most })] }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
