/** A graph for each metric of a history, and the changes that Apache Otava found in it. */
import { OF_TREND, overTime, points, rows, series } from '../influx.js';
import { graph, table } from '../panels.js';
import { units } from '../units.js';

/** @returns {import('../board.js').Row} */
export const changeRow = () => ({ id: 900, title: 'Changes', panels: [changes()] });

/** @returns {import('../board.js').Row} */
export const metricRow = () => ({ id: 910, title: '$metric', repeat: 'metric', panels: [values()] });

const changes = () =>
  table({
    id: 901,
    title: 'Where metrics changed',
    description:
      'By how much the mean of what follows differs from the mean before, and what was measured on either side. This gates nothing.',
    unit: units.none,
    w: 24,
    empty: 'no change was found',
    columns: [
      { name: 'Time', title: 'since', width: 190 },
      { name: 'scenario', width: 150 },
      { name: 'title', title: 'change', width: 420 },
      { name: 'text', title: 'first with it, and last before' },
    ],
  }).withTarget(
    rows(
      'A',
      points({
        select: '"scenario", "title", "text"',
        from: ['trend_changes'],
        where: [...OF_TREND, '$timeFilter'],
        order: 'ORDER BY time DESC LIMIT 100',
      }),
    ),
  );

const values = () =>
  graph({
    id: 911,
    title: '$metric',
    description:
      'A line for each operation, profile and group: parameters and testbed. Units are those of results: milliseconds, a second, Mbit/s, µs, bytes.',
    unit: units.count,
    w: 24,
    calcs: ['mean', 'last'],
  })
    .spanNulls(true)
    .withTarget(
      series(
        'A',
        overTime({
          select: 'last("value")',
          from: ['trend'],
          where: OF_TREND,
          by: ['scenario', 'operation', 'profile', 'group'],
          fill: 'none',
        }),
        '$tag_scenario $tag_operation, $tag_profile $tag_group',
      ),
    );
