/** The time of the panel's requests by component, and their effect on users. */
import { GraphDrawStyle, StackingConfigBuilder, StackingMode } from '@grafana/grafana-foundation-sdk/common';
import { CHOSEN, CHOSEN_SCENARIOS, ofSections } from '../../parts/influx.js';
import { graph, table } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

/** The route contains all other components except the time outside of it. */
const NO_ROUTE = `"component" != 'route'`;

/** @returns {import('../board.js').Row} */
export const componentRow = () => ({
  id: 700,
  title: 'Where the time goes',
  collapsed: true,
  panels: [shares(), slowest(), wholeRun(), changes()],
});

const shares = () =>
  graph({
    id: 701,
    title: 'Time in each component, of all the time that clients waited',
    description:
      "Milliseconds in each second's answers, one above the other, by the panel's Server-Timing header. Outside the route: the way there and back, the framework, waiting for a worker.",
    unit: units.ms,
    w: 12,
    calcs: ['sum', 'max'],
    shows: {
      select: 'sum("sum")',
      from: ['component_ms'],
      where: [...CHOSEN, NO_ROUTE],
      by: ['component'],
      alias: '$tag_component',
    },
  })
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(60)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));

const slowest = () =>
  graph({
    id: 702,
    title: 'P95 of each component',
    description:
      'Of the calls of each second; where a point is wider than a second, the highest of them. The route holds all but what is outside of it.',
    unit: units.ms,
    w: 12,
    calcs: ['mean', 'max'],
    log: true,
    shows: {
      select: 'max("p95")',
      from: ['component_ms'],
      by: ['component'],
      alias: '$tag_component',
    },
  });

const wholeRun = () =>
  table({
    id: 703,
    title: 'Components of the whole run',
    description:
      'Calls, average time and P95 of each, and share of the time that clients waited. Known when a scenario has ended. The report names a bottleneck where the evidence does.',
    unit: units.ms,
    w: 12,
    empty: 'no scenario has ended yet, or the panel tells no times',
    columns: [
      { name: 'scenario', width: 120 },
      { name: 'operation', fitted: true },
      { name: 'component', width: 120 },
      { name: 'latency_share', title: 'share', fitted: true, unit: units.share, decimals: 1 },
      { name: 'avg_ms', title: 'average', fitted: true },
      { name: 'p95_ms', title: 'P95', fitted: true },
      { name: 'calls', fitted: true, unit: units.count },
      { name: 'source' },
    ],
    shows: {
      select:
        '"scenario", "operation", "row" AS "component", "section" AS "source", "calls", "avg_ms", "p95_ms", "latency_share"',
      ...ofSections('component|prometheus'),
    },
  });

const changes = () =>
  graph({
    id: 704,
    title: 'Changes to users',
    description:
      'Sent, done and refused, by what was changed, set-up and removal included. Whether the panel then holds what it should is among the checks and in the report.',
    unit: units.amount,
    w: 12,
    calcs: ['sum', 'max'],
    shows: {
      select: 'sum("count") * 1000 / $__interval_ms',
      from: ['user_changes'],
      where: CHOSEN_SCENARIOS,
      by: ['change', 'outcome'],
      alias: '$tag_change, $tag_outcome',
    },
  });
