/**
 * How does realistic traffic perform through a protocol?
 *
 * Small requests, whole pages and a video stream (lib/protocols/users.js) run through one row of lib/protocols/matrix.js: each alone,
 * then all three at once. They are open loops, so waiting time counts from the intended start. Each has its control beside it:
 * the same direct. docs/reference/protocols.md describes each use and its limits.
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { controlName, partName, planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { measureAll } from '../../lib/meter.js';
import { envCount, sizesOf } from '../../lib/profiles.js';
import { knownOf } from '../../lib/protocols/excuse.js';
import { startsRows, withSides } from '../../lib/protocols/instances.js';
import { candidateLeft, selectedRows, sidesOf } from '../../lib/protocols/sides.js';
import { USES } from '../../lib/protocols/users.js';
import { entryOf, reachOf } from '../../lib/protocols/way.js';

const PROFILES = {
  smoke: { rounds: 1, seconds: 1 },
  quick: { rounds: 3, seconds: 10 },
  full: { rounds: 3, seconds: 30 },
};
/** Share of tunnels that a known fault of the matrix may break. */
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

const uses = Object.entries(USES);
const alone = uses.map(([name, use]) => ({ ...use, name, title: `${use.title}, alone` }));
const mixed = uses.map(([name, use]) => ({
  ...use,
  name: `mixed_${name}`,
  title: `${use.title}, with the others`,
}));
/** The uses that run at the same time: each alone, then all together. */
const steps = [...alone.map((use) => [use]), mixed];

/** @param {typeof alone[number]} use */
const rowsOf = ({ name, title, latencyIs, series, tunnels }) =>
  withControl(name, {
    title,
    latencyIs,
    series,
    loop: 'open',
    bounds: knownOf(row, baseline) ? { failed: 1 - (1 - KNOWN_BREAKS) ** tunnels, errors: undefined } : {},
  });

/**
 * Runs several probes at once through the same instance. Each is a separate operation.
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane @param {{ operation: string, spec: Record<string, unknown> }[]} probes @param {any} via
 */
function measureAtOnce(plane, probes, via) {
  const ended = measureAll(probes.map(({ spec }) => plane.specOf(via, spec)));
  for (const [index, { operation }] of probes.entries()) plane.recorded([operation], ended[index]);
}

const script = planeScenario({
  ...startsRows,
  name: 'traffic',
  title: `Realistic traffic through ${row.row}`,
  load: roundsLoad(equalRounds(rounds), [
    ...(left.length > 0 ? [`one row a run: not ${left.join(', ')}`] : []),
    ...candidateLeft(),
  ]),
  parameters: { protocol: row.row, engine: baseline.engine, ...baseline.settings, rounds, seconds },
  operations: Object.assign({}, ...alone.flatMap((use, index) => [rowsOf(use), rowsOf(mixed[index])])),
  echo: 'events',
  round(_round, index, plane) {
    withSides([{ row, side: baseline, logName: `${row.row}/traffic` }], plane, ([side]) => {
      if ('failed' in side) throw new Error(`${row.row}: ${side.failed.outcome}: ${side.failed.detail}`);
      const { started } = side;
      const { window } = plane.data;
      const proxy = { address: entryOf(started).address };
      // Over a link, the control crosses the link too.
      const reach = reachOf(started, plane, 'tcp');
      const through = { ...reach, proxy, instance: started.id, usage_window: window };
      for (const [step, together] of steps.entries()) {
        const probes = together.map(({ name, spec }) => ({
          operation: name,
          spec: { limit_s: seconds + 30, warmup: 0, ...spec(seconds) },
        }));
        const controls = probes.map((probe) => ({ ...probe, operation: controlName(probe.operation) }));
        const both = [
          () => measureAtOnce(plane, probes, through),
          () => measureAtOnce(plane, controls, { ...reach, watched_by: window }),
        ];
        const order = (index + step) % 2 === 0 ? both : both.reverse();
        const names = together.map(({ name }) => name).join(' and ');
        plane.part(partName(names, index), () => order.forEach((one) => one()));
      }
    });
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
