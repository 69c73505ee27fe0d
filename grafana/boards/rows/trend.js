/** Graphs of a history, and the changes that Apache Otava found in it. */
import { OF_TREND } from '../../parts/influx.js';
import { graph, table } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

/** The graphs of a scenario, by the unit that the history has. */
const GRAPHS = {
  ms: { title: 'Latency', unit: units.ms },
  per_s: { title: 'Rate', unit: units.amount },
  mbit_per_s: { title: 'Throughput', unit: units.mbit },
  us: { title: 'CPU time of one operation', unit: units.microseconds },
  s: { title: 'CPU time and other durations', unit: units.seconds },
  bytes: { title: 'Memory', unit: units.bytes },
  share: { title: 'Shares', unit: units.share },
};

/** Metrics by their usual names; the others keep the names of the history. */
const NAMES = {
  rate_per_s: 'rate',
  mbit_per_s: 'throughput',
  avg: 'average',
  p50: 'P50',
  p95: 'P95',
  p99: 'P99',
  peak_anon_bytes: 'peak own memory',
  cpu_s: 'CPU',
  whole_cpu_us_per_operation: 'CPU, whole run',
  cpu_us_per_operation: 'CPU, measured part',
  quiet_cpu_s: 'CPU after the load',
};

const DIFFER = 'Lines with one name differ in parameters or testbed, which the page of the trend names.';

/** @returns {import('../board.js').Row} */
export const changeRow = () => ({ id: 900, title: 'Changes', panels: [changes()] });

/** @returns {import('../board.js').Row} */
export const allRow = () => ({
  id: 910,
  title: 'All scenarios',
  panels: [ofAll(911, 'P95 latency', 'p95', units.ms), ofAll(912, 'Rate', 'rate_per_s', units.amount)],
});

/** @returns {import('../board.js').Row} */
export const scenarioRow = () => ({
  id: 920,
  title: 'Scenario: $scenario',
  repeat: 'scenario',
  collapsed: true,
  panels: [
    ...Object.entries(GRAPHS).map(([unit, { title, ...look }], index) =>
      ofScenario({ id: 921 + index, title, ...look, condition: `"unit" = '${unit}'` }),
    ),
    ofScenario({
      id: 921 + Object.keys(GRAPHS).length,
      title: 'Other figures',
      unit: units.count,
      condition: `"unit" !~ /^(${Object.keys(GRAPHS).join('|')})$/`,
      name: '$tag_operation $tag_metric, $tag_unit, $tag_profile',
    }),
  ],
});

const changes = () =>
  table({
    id: 901,
    title: 'Where metrics changed',
    description:
      'By how much the mean of what follows differs from the mean before, and what was measured on either side. This gates nothing.',
    empty: 'no change was found',
    columns: [
      { name: 'Time', title: 'since', width: 190 },
      { name: 'scenario', width: 150 },
      { name: 'title', title: 'change', width: 420 },
      { name: 'text', title: 'first with it, and last before' },
    ],
    shows: {
      from: ['trend_changes'],
      where: [...OF_TREND, '$timeFilter'],
      order: 'ORDER BY time DESC LIMIT 100',
    },
  });

/**
 * A line for each history. The group separates histories, but the legend omits it, because the group is a
 * hash.
 * @param {string[]} by tags beside
 * @param {string} condition
 * @param {string} alias
 */
const histories = (by, condition, alias) => ({
  select: 'last("value")',
  from: ['trend'],
  where: [...OF_TREND, condition],
  by: [...by, 'operation', 'profile', 'group'],
  fill: /** @type {const} */ ('none'),
  alias,
});

/** Logarithmic, since scenarios differ by decades. @param {number} id @param {string} title @param {string} metric @param {string} unit */
const ofAll = (id, title, metric, unit) =>
  graph({
    id,
    title,
    description: `A line for each scenario and operation, on a logarithmic axis. ${DIFFER}`,
    unit,
    w: 12,
    h: 10,
    calcs: ['mean', 'last'],
    log: true,
    shows: histories(['scenario'], `"metric" = '${metric}'`, '$tag_scenario $tag_operation, $tag_profile'),
  }).spanNulls(true);

/** @param {{ id: number, title: string, unit: string, condition: string, name?: string }} of */
const ofScenario = ({ condition, name = '$tag_operation $tag_metric, $tag_profile', ...spec }) =>
  graph({
    description: `A line for each operation and metric, "-" for the whole run. ${DIFFER}`,
    w: 12,
    calcs: ['mean', 'last'],
    log: true,
    shows: histories(['metric', 'unit'], condition, name),
    ...spec,
  })
    .spanNulls(true)
    .transformations(
      Object.entries(NAMES).map(([metric, people]) => ({
        id: 'renameByRegex',
        options: { regex: `^(.*) ${metric}, (.*)$`, renamePattern: `$1 ${people}, $2` },
      })),
    );
