/** Rate, errors, duration, and the distribution of latencies. */
import { CHOSEN_SCENARIOS, FAILED_SHARE, aSecond, overTime, series } from '../../parts/influx.js';
import { graph, heatmap } from '../../parts/panels.js';
import { units } from '../../parts/units.js';
import { bounds, dashingBounds } from './bounds.js';

const VUS = 'virtual users';
/** Slow requests leave seconds without points. Lines bridge such seconds, and longer gaps stay. */
export const SPAN_MS = 3000;

/**
 * A row for each value of one variable, with a line for each value of the other.
 * @param {{ each: 'operation' | 'scenario', line: 'operation' | 'scenario' }} split
 * @returns {import('../board.js').Row}
 */
export const requestRow = ({ each, line }) => ({
  id: 200,
  title: `Requests: $${each}`,
  repeat: each,
  collapsed: true,
  panels: [rate(line), errors(line), duration(line), latencies()],
});

/** @param {string} line */
const rate = (line) =>
  graph({
    id: 201,
    title: 'Rate',
    description:
      'Requests a second, failed ones too. Samples of a data plane come when their probe ends, each in the second in which it was measured.',
    unit: units.requests,
    w: 5,
    shows: {
      select: aSecond('count'),
      from: ['operation_failed'],
      by: [line],
      alias: `$tag_${line}`,
    },
  });

/** @param {string} line */
const errors = (line) =>
  dashingBounds(
    graph({
      id: 202,
      title: 'Errors',
      description: 'Share of the requests that failed. The dashed line is the bound of the threshold on it.',
      unit: units.share,
      w: 5,
      shows: {
        select: FAILED_SHARE,
        from: ['operation_failed'],
        by: [line],
        alias: `$tag_${line}`,
      },
    })
      .withTarget(bounds('operation_failed ', line))
      // Without a failure, Grafana would draw an axis up to 10,000 %.
      .axisSoftMax(0.01),
  );

/** @param {string} line */
const duration = (line) =>
  dashingBounds(
    graph({
      id: 203,
      title: 'Duration',
      description:
        'Latency of the successes of each second, exact; where a point is wider than a second, the mean of its P50 and the highest of its P95 and P99. Virtual users on the right. The dashed line is the bound on P95, where there is one.',
      unit: units.ms,
      w: 8,
      calcs: ['mean', 'max'],
      log: true,
      shows: {
        select: 'mean("p50") AS "P50", max("p95") AS "P95", max("p99") AS "P99"',
        from: ['operation_ms'],
        by: [line],
        alias: `$col $tag_${line}`,
      },
    })
      .spanNulls(SPAN_MS)
      .withTarget(
        series('vus', overTime({ select: 'max("value")', from: ['vus'], where: CHOSEN_SCENARIOS }), VUS),
      )
      .withTarget(bounds('operation_ms p\\(95\\)', line))
      .overrideByName(VUS, [
        { id: 'unit', value: units.count },
        { id: 'min', value: 0 },
        { id: 'custom.axisPlacement', value: 'right' },
        { id: 'custom.scaleDistribution', value: { type: 'linear' } },
        { id: 'custom.fillOpacity', value: 0 },
        { id: 'custom.spanNulls', value: SPAN_MS },
        { id: 'custom.lineStyle', value: { fill: 'dash', dash: [6, 6] } },
        { id: 'color', value: { mode: 'fixed', fixedColor: 'gray' } },
      ]),
  );

const latencies = () =>
  heatmap({
    id: 204,
    title: 'Latencies',
    description:
      'How many successes took how long, second by second. Each cell counts latencies up to its upper edge; two bands mean two kinds of request. Bounds between which nothing fell are left out: read the axis.',
    unit: units.ms,
    w: 6,
    shows: {
      select: 'sum("count")',
      from: ['operation_ms_bucket'],
      by: ['le'],
      fill: '0',
      alias: '$tag_le',
    },
  });
