/** Traffic and loss of a proxy, and the cost of the same traffic without the proxy. */
import { GraphDrawStyle } from '@grafana/grafana-foundation-sdk/common';
import { CHOSEN_SCENARIOS, FAILED_SHARE } from '../../parts/influx.js';
import { bars, graph, readable } from '../../parts/panels.js';
import { withoutColumns } from '../../parts/transformations.js';
import { units } from '../../parts/units.js';

/** @returns {import('../board.js').Row} */
export const throughputRow = () => ({
  id: 700,
  title: 'Throughput and loss, with the direct control beside',
  collapsed: true,
  panels: [throughput(), loss(), latency('P50', 703), latency('P95', 704)],
});

const throughput = () =>
  graph({
    id: 701,
    title: 'Throughput',
    description:
      'Mean payload in one direction of each probe, a point for each probe at its end, the controls (direct) too. A handshake carries nothing, and interop asks for no throughput.',
    unit: units.mbit,
    w: 12,
    shows: {
      select: 'sum("sum") / sum("count")',
      from: ['operation_mbit_per_s'],
      where: CHOSEN_SCENARIOS,
      by: ['operation'],
      fill: 'none',
      alias: '$tag_operation',
    },
  }).drawStyle(GraphDrawStyle.Points);

const loss = () =>
  graph({
    id: 702,
    title: 'Loss',
    description:
      'Share of the datagrams that did not come back, of connections and requests that failed, the controls (direct) too: what the control loses is not the proxy’s loss.',
    unit: units.share,
    w: 12,
    shows: {
      select: FAILED_SHARE,
      from: ['operation_failed'],
      where: CHOSEN_SCENARIOS,
      by: ['operation'],
      fill: 'none',
      alias: '$tag_operation',
    },
  })
    .drawStyle(GraphDrawStyle.Points)
    .axisSoftMax(0.01);

/** Height of a panel of horizontal bars. */
const HEIGHT = 16;

/**
 * Controls cannot be chosen as operations: their figures are in the result of each operation.
 * @param {'P50' | 'P95'} percentile
 * @param {number} id
 */
const latency = (percentile, id) => {
  const field = `${percentile.toLowerCase()}_ms`;
  return bars({
    id,
    title: `${percentile} through the proxy and direct`,
    description: `Of the whole run: the difference is what the proxy adds. The ${readable(HEIGHT)} slowest of the chosen operations; of protocols, which have no control each, the row alone. Known when a scenario has ended.`,
    unit: units.ms,
    w: 12,
    h: HEIGHT,
    x: 'operation',
    by: 'through the proxy',
    empty: `no result yet, or too few samples for a ${percentile}`,
    log: true,
    transformations: [withoutColumns('Time')],
    shows: {
      select: `"operation", "${field}" AS "through the proxy", "control_${field}" AS "direct"`,
      from: ['results'],
    },
  });
};
