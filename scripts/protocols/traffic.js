/**
 * How does realistic traffic fare through a protocol?
 *
 * Small requests, whole pages, a video stream (lib/protocols/users.js), each alone and then all three at once, through one
 * row of lib/protocols/matrix.js, in open loops: what has to wait is counted from its intended start. Beside each the same
 * direct. docs/protocols.md says what each use is, and what it is not.
 */
import { cpusOf } from '../../lib/dataplane/environment.js';
import { roundsLoad } from '../../lib/dataplane/load.js';
import { measureAll } from '../../lib/dataplane/meter.js';
import {
  recordNothing,
  recordOwnInstances,
  recordRest,
  recordSeries,
} from '../../lib/dataplane/probe-operation.js';
import { controlName, partName, planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { envCount, sizesOf } from '../../lib/profiles.js';
import { knownOf } from '../../lib/protocols/excuse.js';
import { instanceIds, startSides, stopAllBut, stopSides } from '../../lib/protocols/instances.js';
import { candidateLeft, selectedRows, sidesOf } from '../../lib/protocols/sides.js';
import { USES } from '../../lib/protocols/users.js';

const PROFILES = {
  smoke: { rounds: 1, seconds: 3 },
  quick: { rounds: 3, seconds: 10 },
  full: { rounds: 3, seconds: 30 },
};
/** Share of the tunnels that a fault which the matrix knows of may break. */
const KNOWN_BREAKS = 0.1;
const base = sizesOf(PROFILES, 'this traffic has its own shape');
const seconds = envCount('SECONDS', base.seconds);
const rounds = envCount('ROUNDS', base.rounds);
const { baseline } = sidesOf();
const wanted = selectedRows('protocols/traffic');
const row = wanted.find(
  ({ engines, variables }) => engines[baseline.engine] === true && (variables.inbound ?? 'socks') === 'socks',
);
if (!row)
  throw `PROTOCOL=${__ENV.PROTOCOL}: none has a SOCKS client that ${baseline.engine} runs: add a row, or leave this scenario out with ONLY=protocols/matrix`;
const left = wanted.filter((other) => other !== row).map((other) => other.row);

/** Alone, and together with the others. @type {{ name: string, use: import('../../lib/protocols/users.js').Use }[]} */
const measured = Object.entries(USES).flatMap(([name, use]) => [
  { name, use: { ...use, title: `${use.title}, alone` } },
  { name: `mixed_${name}`, use: { ...use, title: `${use.title}, with the others` } },
]);
const steps = [...Object.keys(USES).map((name) => [name]), Object.keys(USES).map((name) => `mixed_${name}`)];

const script = planeScenario({
  system: 'protocols',
  name: 'traffic',
  title: `Realistic traffic through ${row.row}`,
  load: roundsLoad(
    Array.from({ length: rounds }, () => ({ loop: 'closed', count: 1, factor: 1 })),
    [...(left.length > 0 ? [`one row a run: not ${left.join(', ')}`] : []), ...candidateLeft()],
  ),
  parameters: { protocol: row.row, engine: baseline.engine, rounds, seconds },
  operations: Object.assign(
    {},
    ...measured.map(({ name, use }) =>
      withControl(name, {
        title: use.title,
        latencyIs: use.latencyIs,
        series: use.series,
        loop: 'open',
        bounds: knownOf(row, baseline)
          ? { failed: 1 - (1 - KNOWN_BREAKS) ** use.tunnels, errors: undefined }
          : {},
      }),
    ),
  ),
  echo: 'events',
  ownInstances: true,
  prepare: () => ({ instances: instanceIds() }),
  round(_round, index, plane) {
    const [started] = startSides([{ row, side: baseline, logName: `${row.row}/traffic` }], plane);
    if ('failed' in started)
      throw new Error(`${row.row}: ${started.failed.outcome}: ${started.failed.detail}`);
    const { id, outputs } = started.started;
    const proxy = { address: outputs.DATAPLANE_URL.split('://')[1] };
    const through = { proxy, instance: id, usage_window: plane.data.window };
    try {
      for (const [step, names] of steps.entries()) {
        const both = [
          () => measureUses(plane, names, through, (name) => name),
          () => measureUses(plane, names, { watched_by: plane.data.window }, controlName),
        ];
        const order = (index + step) % 2 === 0 ? both : both.reverse();
        plane.part(partName(names.join(' and '), index), () => order.forEach((side) => side()));
      }
    } finally {
      stopSides([started]);
    }
  },
  end: (data) => stopAllBut(/** @type {any} */ (data).instances),
});

/**
 * Uses that run at once, one way.
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 * @param {string[]} names
 * @param {object} via
 * @param {(name: string) => string} operationOf
 */
function measureUses(plane, names, via, operationOf) {
  const { probe_cpus: cpus, wait } = plane.environment.placement;
  const uses = names.map((name) => USES[name.replace('mixed_', '')]);
  const specs = uses.map(({ spec }) => ({
    target: plane.target('tcp'),
    cpus: cpusOf(cpus),
    wait,
    limit_s: seconds + 30,
    ...via,
    ...spec(seconds),
  }));
  const all = measureAll(specs);
  // Each of them measures the same processes, at the same time.
  const systemSeconds = all.map((found) =>
    'outcome' in found ? (found.outcome.usage?.total.cpu_s ?? 0) : 0,
  );
  recordOwnInstances(Math.max(...systemSeconds));
  for (const [index, found] of all.entries()) {
    const operation = operationOf(names[index]);
    if ('error' in found) {
      recordNothing(operation, found);
      continue;
    }
    recordSeries(operation, found, uses[index].series);
    recordRest(operation, found);
  }
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
