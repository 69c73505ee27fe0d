/** Usage of the processes of the system under test while under load, and of the load generator's processes. */
import { CHOSEN_SCENARIOS } from '../../parts/influx.js';
import { graph } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

/** @returns {import('../board.js').Row} */
export const processRow = () => ({
  id: 500,
  title: 'Processes under test',
  collapsed: true,
  panels: [
    usage('cpu_percent', {
      id: 501,
      title: 'CPU',
      description:
        'Of one core, each process: system is under test, support is its far end or database, generator makes the load. A sweep starts processes of its own for each value: their CPU is in its results.',
      unit: units.percent,
      w: 12,
    }),
    usage('rss_bytes', {
      id: 502,
      title: 'Memory',
      description: 'Resident memory of each process, of the system under test and of the generator.',
      unit: units.bytes,
      w: 12,
    }),
  ],
});

/** @param {string} field @param {import('../../parts/panels.js').Spec} spec */
const usage = (field, spec) =>
  graph({
    ...spec,
    shows: {
      select: `max("${field}")`,
      from: ['processes'],
      where: CHOSEN_SCENARIOS,
      by: ['process', 'role'],
      alias: '$tag_process, $tag_role',
    },
  }).overrideByRegexp('/, generator$/', [
    { id: 'custom.lineStyle', value: { fill: 'dash', dash: [6, 6] } },
    { id: 'custom.fillOpacity', value: 0 },
  ]);
