/** Errors by kind. */
import { GraphDrawStyle } from '@grafana/grafana-foundation-sdk/common';
import { CHOSEN, overall, series } from '../../parts/influx.js';
import { graph, table } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

const BY_KIND = /^operation_errors (.*)$/;

/** Failed requests count 0 if none fails, so that a graph shows the difference between no errors and no data. */
const kindsQuery = () => {
  const where = CHOSEN.join(' AND ');
  return (
    `SELECT sum("errors") FROM (SELECT "hits" AS "errors" FROM "operation_failed" WHERE ${where}), ` +
    `(SELECT "count" AS "errors" FROM "operation_errors" WHERE ${where}) ` +
    'WHERE $timeFilter GROUP BY time($__interval), "kind" fill(none)'
  );
};

export const kinds = () =>
  graph({
    id: 301,
    title: 'Errors by kind',
    description:
      'Failed requests, and errors by kind: more than one may fall on a request, and some, such as duplicates, on none that failed. docs/reference/errors.md explains each kind.',
    unit: units.count,
    w: 14,
    calcs: ['sum', 'max'],
  })
    .withTarget(series('A', kindsQuery(), '$m $tag_kind'))
    .transformations([
      { id: 'renameByRegex', options: { regex: '^operation_failed.*$', renamePattern: 'failed requests' } },
      { id: 'renameByRegex', options: { regex: BY_KIND.source, renamePattern: '$1' } },
    ])
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(60);

export const requests = () =>
  table({
    id: 302,
    title: 'Requests and failures',
    description: "Of each operation, within the board's time.",
    unit: units.count,
    w: 10,
    empty: "no request within the board's time",
    columns: [
      { name: 'scenario', width: 150 },
      { name: 'operation' },
      { name: 'requests', fitted: true },
      { name: 'failed', fitted: true },
    ],
    shows: {
      ask: overall,
      select: 'sum("count") AS "requests", sum("hits") AS "failed"',
      from: ['operation_failed'],
      by: ['scenario', 'operation'],
    },
  });
