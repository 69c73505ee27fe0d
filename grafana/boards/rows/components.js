/** Where the time of the panel's requests goes, and what they did to its users. */
import { GraphDrawStyle, StackingConfigBuilder, StackingMode } from '@grafana/grafana-foundation-sdk/common';
import { CHOSEN, CHOSEN_SCENARIOS, overTime, points, rows, series } from '../influx.js';
import { graph, table } from '../panels.js';
import { inOrder } from '../transformations.js';
import { units } from '../units.js';

/** It holds the others but what is outside of it. */
const NO_ROUTE = `"component" != 'route'`;

/** @returns {import('../board.js').Row} */
export const componentRow = () => ({
  id: 700,
  title: 'Where the time goes',
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
  })
    .withTarget(
      series(
        'A',
        overTime({
          select: 'sum("sum")',
          from: ['component_ms'],
          where: [...CHOSEN, NO_ROUTE],
          by: ['component'],
        }),
        '$tag_component',
      ),
    )
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
  }).withTarget(
    series(
      'A',
      overTime({ select: 'max("p95")', from: ['component_ms'], where: CHOSEN, by: ['component'] }),
      '$tag_component',
    ),
  );

const wholeRun = () =>
  table({
    id: 703,
    title: 'Components of the whole run',
    description:
      'Calls, time of each, and share of the time that clients waited. Known when a scenario has ended. The report names a bottleneck where the evidence does.',
    unit: units.ms,
    w: 12,
    noValue: '–',
  })
    .withTarget(
      rows(
        'A',
        points({
          select:
            '"scenario", "operation", "component", "source", "calls", "avg_ms", "p95_ms", "latency_share"',
          from: ['components'],
          where: CHOSEN_SCENARIOS,
        }),
      ),
    )
    .transformations([
      inOrder([
        'scenario',
        'operation',
        'component',
        'latency_share',
        'avg_ms',
        'p95_ms',
        'calls',
        'source',
        'Time',
      ]),
    ])
    .overrideByName('calls', [{ id: 'unit', value: units.count }])
    .overrideByName('latency_share', [
      { id: 'displayName', value: 'share' },
      { id: 'unit', value: units.share },
      { id: 'decimals', value: 1 },
    ])
    .overrideByName('Time', [{ id: 'custom.hidden', value: true }]);

const changes = () =>
  graph({
    id: 704,
    title: 'Changes to users',
    description:
      'Sent, done and refused, by what was changed, set-up and removal included. Whether the panel then holds what it should is among the checks and in the report.',
    unit: units.amount,
    w: 12,
    calcs: ['sum', 'max'],
  }).withTarget(
    series(
      'A',
      overTime({
        select: 'sum("count") * 1000 / $__interval_ms',
        from: ['user_changes'],
        where: CHOSEN_SCENARIOS,
        by: ['change', 'outcome'],
      }),
      '$tag_change, $tag_outcome',
    ),
  );
