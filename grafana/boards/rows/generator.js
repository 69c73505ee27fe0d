/** Was the generator fast enough? If not, the figures describe the generator, not the system. */
import { HOLDS } from '../../parts/colours.js';
import { CHOSEN_SCENARIOS, aSecond, overTime, series } from '../../parts/influx.js';
import { graph, table } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

const VUS = 'virtual users';

/** @returns {import('../board.js').Row} */
export const generatorRow = () => ({
  id: 400,
  title: 'Generator: was it up to the load?',
  collapsed: true,
  panels: [cpu(), lateness(), iterations(), checks()],
});

const cpu = () =>
  graph({
    id: 401,
    title: 'CPU of the generator',
    description:
      "Of one core, each process that makes load; and how busy the machine's cores were on average. A full machine of which the generator takes the larger part measures itself.",
    unit: units.percent,
    w: 8,
    shows: {
      select: 'max("cpu_percent")',
      from: ['processes'],
      where: [...CHOSEN_SCENARIOS, `"role" = 'generator'`],
      by: ['process'],
      alias: '$tag_process, of one core',
    },
  }).withTarget(
    series(
      'B',
      overTime({ select: 'max("busy_percent")', from: ['host'], where: CHOSEN_SCENARIOS }),
      'machine',
    ),
  );

const lateness = () =>
  graph({
    id: 402,
    title: 'Lateness',
    description:
      'P99 of how late requests were sent after their intended time, or arrivals handled, beside the P99 latency that it is part of. A closed loop has no intended times: it has no lateness.',
    unit: units.ms,
    w: 8,
    log: true,
    shows: {
      select: 'max("p99")',
      from: ['operation_ms', 'operation_lateness_ms'],
      alias: '$m',
    },
  })
    .overrideByName('operation_ms', [{ id: 'displayName', value: 'latency' }])
    .overrideByName('operation_lateness_ms', [{ id: 'displayName', value: 'lateness' }]);

const iterations = () =>
  graph({
    id: 403,
    title: 'Iterations done and dropped',
    description:
      'k6 drops an iteration of an open loop when no virtual user is free: it was never sent. Virtual users on the right.',
    unit: units.amount,
    w: 8,
    shows: {
      select: aSecond('count'),
      from: ['iterations', 'dropped_iterations'],
      where: CHOSEN_SCENARIOS,
      alias: '$m',
    },
  })
    .withTarget(
      series('vus', overTime({ select: 'max("value")', from: ['vus'], where: CHOSEN_SCENARIOS }), VUS),
    )
    .overrideByName('iterations', [{ id: 'displayName', value: 'done' }])
    .overrideByName('dropped_iterations', [
      { id: 'displayName', value: 'dropped' },
      { id: 'color', value: { mode: 'fixed', fixedColor: 'red' } },
    ])
    .overrideByName(VUS, [
      { id: 'unit', value: units.count },
      { id: 'custom.axisPlacement', value: 'right' },
      { id: 'custom.fillOpacity', value: 0 },
      { id: 'color', value: { mode: 'fixed', fixedColor: 'gray' } },
    ]);

const checks = () =>
  table({
    id: 404,
    title: 'Checks',
    description:
      'Checks of validity, made when a scenario has ended. docs/explanation/verdicts.md explains each.',
    empty: 'no scenario has been checked yet',
    columns: [
      { name: 'ok', title: 'holds', fitted: true, colours: HOLDS },
      { name: 'scenario', width: 160 },
      { name: 'check', width: 260 },
      { name: 'detail', long: true },
    ],
    shows: { from: ['validity'], where: CHOSEN_SCENARIOS },
  }).sortBy([{ build: () => ({ displayName: 'holds', desc: false }) }]);
