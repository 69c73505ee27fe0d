/** What a proxy moves, what it loses, and what the same costs without it. */
import { GraphDrawStyle } from '@grafana/grafana-foundation-sdk/common';
import { CHOSEN_SCENARIOS, FAILED_SHARE, overTime, points, rows, series } from '../influx.js';
import { bars, graph } from '../panels.js';
import { withoutColumns } from '../transformations.js';
import { units } from '../units.js';

/** @returns {import('../board.js').Row} */
export const throughputRow = () => ({
  id: 700,
  title: 'Throughput and loss, with the direct control beside',
  panels: [throughput(), loss(), results()],
});

const throughput = () =>
  graph({
    id: 701,
    title: 'Throughput',
    description:
      'Payload in one direction, a point for each probe at its end, the controls (direct) too. A handshake carries nothing.',
    unit: units.mbit,
    w: 12,
  })
    .withTarget(
      series(
        'A',
        overTime({
          select: 'sum("sum") / sum("count")',
          from: ['operation_mbit_per_s'],
          where: CHOSEN_SCENARIOS,
          by: ['operation'],
          fill: 'none',
        }),
        '$tag_operation',
      ),
    )
    .drawStyle(GraphDrawStyle.Points);

const loss = () =>
  graph({
    id: 702,
    title: 'Loss',
    description:
      'Share of the datagrams that did not come back, of connections and requests that failed, the controls (direct) too: what the control loses is not the proxy’s loss.',
    unit: units.share,
    w: 12,
  })
    .withTarget(
      series(
        'A',
        overTime({
          select: FAILED_SHARE,
          from: ['operation_failed'],
          where: CHOSEN_SCENARIOS,
          by: ['operation'],
          fill: 'none',
        }),
        '$tag_operation',
      ),
    )
    .drawStyle(GraphDrawStyle.Points)
    .axisSoftMax(0.01);

const results = () =>
  bars({
    id: 703,
    title: 'Latency through the proxy and direct',
    description:
      'P50 and P95 of the whole run, each operation beside its control: the difference is what the proxy adds. Known when a scenario has ended.',
    unit: units.ms,
    w: 24,
    h: 10,
    x: 'operation',
    log: true,
  })
    .withTarget(
      rows(
        'A',
        points({
          select: '"operation", "p50_ms" AS "P50", "p95_ms" AS "P95"',
          from: ['results'],
          where: CHOSEN_SCENARIOS,
        }),
      ),
    )
    .transformations([
      withoutColumns('Time'),
      { id: 'sortBy', options: { fields: {}, sort: [{ field: 'operation' }] } },
    ]);
