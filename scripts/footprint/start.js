/**
 * What do routing rules cost at the start of a proxy, and what does a reload do to its connections?
 *
 * The proxy starts with 0 to 1,000,000 rules: domain suffixes and IP ranges. The testbed `rules` makes them from a seed, and no rule
 * matches. All levels take turns, each with a new process, so that the growth of each figure has an interval. Then the proxy is
 * reloaded while tunnels carry requests and new connections come at a rate.
 */
import { stop } from '../../lib/execution.js';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { measureReload } from '../../lib/footprint/reload.js';
import { engineOf } from '../../lib/footprint/rules.js';
import { measureStart, operationOf } from '../../lib/footprint/start.js';
import { startSections } from '../../lib/footprint/start-shown.js';
import { listOf, note } from '../../lib/notes.js';
import { envChoice, envCount, envList, envNumber, sizesOf } from '../../lib/profiles.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { instance } from '../../lib/sidecar.js';
import { median } from '../../lib/spread.js';

const PROFILES = {
  smoke: { turns: 2, reloads: 1, rules: [0, 1000], connections: 10, round_trips: 50 },
  quick: { turns: 6, reloads: 2, rules: [0, 1000, 100_000], connections: 30, round_trips: 200 },
  full: { turns: 10, reloads: 5, rules: [0, 1000, 100_000, 1_000_000], connections: 100, round_trips: 1000 },
};
/** Most tunnels of the sidecar's probe `flow`. */
const MOST_TUNNELS = 64;

const { rules: levelsOf, ...sizes } = sizesOf(
  PROFILES,
  'numbers of rules take turns, so that its shape does not apply',
);
const turns = envCount('TURNS', sizes.turns);
const reloads = envCount('RELOADS', sizes.reloads);
const levels = [...new Set(envList('RULES', levelsOf.join(',')).map(Number))].sort((a, b) => a - b);
if (levels.length < 2) throw 'RULES: give two or more numbers of rules, separated by commas';
const tunnels = envCount('CONNECTIONS', 'footprint/start');
if (tunnels > MOST_TUNNELS) throw `CONNECTIONS=${tunnels}: give at most ${MOST_TUNNELS} tunnels`;
if (envChoice('ADDRESS') !== 'ipv4')
  throw 'ADDRESS: footprint/start connects both by IPv4 address and by name: leave it out';
const rate = envNumber('RATE', 'footprint/start');
const form = envChoice('RULES_AS');
const how = envChoice('RELOAD');
const [STARTS, RELOADS] = ['starts', 'reloads'];

/** @returns {import('../../lib/footprint/start.js').Figures[]} */
const starts = () => listOf(STARTS);

const FROM_DIAL = 'from the dial to the first byte of our far end';
/** The operations of each level: name, title, latency, and how many there are at least. @type {[string, string, string, number][]} */
const ALL = [
  ['start', 'Start', 'from the start of the program to the first byte of our far end', turns],
  ['connect', 'Connect by address', FROM_DIAL, turns * sizes.connections],
  ['name', 'Connect by name', FROM_DIAL, turns * sizes.connections],
  ['trip', 'Round trip', 'from a request sent to its echo received', turns * sizes.round_trips],
  [
    'back',
    'Refused by a reload',
    'from the first new connection that failed to the next that succeeded; 0: none failed',
    reloads,
  ],
];

const OPERATIONS = ALL.filter(([, , , least]) => least > 0);

const script = planeScenario({
  ...startsRows,
  system: 'footprint',
  name: 'start',
  title: 'Starts and reloads with many rules',
  load: roundsLoad(equalRounds(levels.length * (turns + reloads))),
  parameters: {
    rules: levels.join(','),
    rules_as: form,
    reload: how,
    ...sizes,
    turns,
    reloads,
    tunnels,
    rate,
  },
  operations: Object.fromEntries(
    levels.flatMap((rules) =>
      OPERATIONS.map(([what, title, latencyIs, least]) => [
        operationOf(what, rules),
        {
          title: `${title}, ${rules} rules`,
          latencyIs,
          ...(latencyIs === FROM_DIAL ? { series: 'total' } : {}),
          least,
          primary: /** @type {const} */ ('p50'),
          // A dropped tunnel is an anomaly, which only an environment bounds.
          ...(what === 'back' ? { bounds: { anomalies: undefined } } : {}),
        },
      ]),
    ),
  ),
  prepare() {
    const base = engineOf(instance());
    if (typeof base === 'string') return stop(base);
    return { ...startsRows.prepare(), base: { ...base, rules_as: form, reload: how } };
  },
  round(_round, index, plane) {
    const turn = Math.floor(index / levels.length);
    // The order of the levels rotates.
    const rules = levels[(index + turn) % levels.length];
    if (turn < turns) {
      note(
        STARTS,
        plane.part(`${rules} rules, turn ${turn + 1}`, () => measureStart(plane, rules, turn, sizes)),
      );
    } else {
      const known = starts()
        .filter((one) => one.rules === rules)
        .flatMap(({ start_ms: ms }) => ms ?? []);
      const startMs = known.length > 0 ? median(known) : 0;
      note(RELOADS, measureReload(plane, rules, turn - turns, startMs, { tunnels, rate }));
    }
  },
  more: () => ({
    sections: startSections({ starts: starts(), reloads: listOf(RELOADS) }, levels, 1000 / rate),
  }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
