/**
 * From k6's summary data to a result: the JSON that k6/schemas/result.schema.json
 * describes and k6 x report prints.
 */
import { KINDS } from './errors.js';
import { findLimit } from './limit.js';
import { PERCENTILES, carries } from './percentiles.js';
import { errorMetric, judge, submetric } from './thresholds.js';
import * as validity from './validity.js';
import { decide } from './verdict.js';

/**
 * @typedef {import('./thresholds.js').SummaryMetric} SummaryMetric
 * @typedef {Record<string, SummaryMetric>} Metrics
 * @typedef {object} OperationSpec
 * @property {string} title
 * @property {'closed' | 'open'} loop
 * @property {string} latencyIs from what to what the latency is measured
 * @property {string} [items] name of what a request carries, where it carries many
 */

/** @param {number} value milliseconds, to the microsecond */
const toMicros = (value) => Math.round(value * 1000) / 1000;

/** @param {Record<string, number>} values of a Trend */
function latencyOf(values) {
  if (values.count === 0) return null;
  const percentiles = PERCENTILES.map(([field, key, share]) => [
    field,
    carries(share, values.count) ? toMicros(values[key]) : null,
  ]);
  return {
    count: values.count,
    avg: toMicros(values.avg),
    min: toMicros(values.min),
    ...Object.fromEntries(percentiles),
    max: toMicros(values.max),
  };
}

/** @param {Metrics} metrics @param {string} name */
function errorsOf(metrics, name) {
  const counts = KINDS.map((kind) => [kind, metrics[errorMetric(name, kind)]?.values.count ?? 0]);
  return /** @type {Record<string, number>} */ (
    Object.fromEntries(counts.filter(([, count]) => Number(count) > 0))
  );
}

/**
 * One row of the table. A rate is counted over the operation's own window, from
 * its first start to its last end, not over k6's whole run.
 * @param {Metrics} metrics
 * @param {string} name
 * @param {OperationSpec} spec
 */
export function operationOf(metrics, name, spec) {
  const of = (/** @type {string} */ metric) => metrics[submetric(metric, name)]?.values;
  const latency = of('operation_ms') ?? { count: 0 };
  const clock = of('operation_clock_ms') ?? { min: 0, max: 0 };
  // An interrupt may fall between two samples of one request: each success is counted by its latency alone.
  const success = latency.count;
  // For k6 a sample of true is a pass: here it means a failed request.
  const requests = success + (of('operation_failed')?.passes ?? 0);
  const windowSeconds = requests === 0 ? 0 : toMicros(clock.max - clock.min) / 1000;
  const perSecond = (/** @type {number} */ count) =>
    windowSeconds > 0 ? Math.round((count / windowSeconds) * 1000) / 1000 : null;
  const carried = of('operation_items')?.count ?? 0;
  return {
    name,
    title: spec.title,
    loop: spec.loop,
    latency_is: spec.latencyIs,
    requests,
    success,
    errors: errorsOf(metrics, name),
    window_s: windowSeconds,
    rate_per_s: perSecond(success),
    ...(spec.items ? { items: { name: spec.items, count: carried, rate_per_s: perSecond(carried) } } : {}),
    latency_ms: latencyOf(latency),
  };
}

/** @param {import('./sidecar.js').Usage | null} usage */
function processesOf(usage) {
  if (!usage) return [];
  const rows = usage.processes.map(({ name, role, cpu_s, cpu_percent, peak_rss_bytes, exit }) => ({
    name,
    role,
    cpu_s,
    cpu_percent,
    peak_rss_bytes,
    exit,
  }));
  if (!rows.some((row) => row.role === 'system')) return rows;
  return [...rows, { name: 'total', role: 'total', ...usage.total, exit: null }];
}

/**
 * @typedef {object} Measured
 * @property {Metrics} metrics
 * @property {Record<string, OperationSpec>} operations
 * @property {Record<string, import('./environment.js').Bounds>} bounds
 * @property {import('./sidecar.js').Usage | null} usage
 * @property {number | undefined} plannedIterations
 * @property {number} plannedSeconds
 * @property {number} seconds how long the load lasted
 * @property {{ steps: import('./limit.js').Steps, loadOf: (step: number) => string } | undefined} limit of a run
 *   that looks for the limit (profile breakpoint)
 */

/**
 * All of a result but its `run`.
 * @param {Measured} measured
 */
export function evaluate(measured) {
  const { metrics } = measured;
  const operations = Object.entries(measured.operations).map(([name, spec]) =>
    operationOf(metrics, name, spec),
  );
  const thresholds = operations.flatMap((row) => judge(metrics, row, measured.bounds[row.name] ?? {}));
  const iterations = metrics.iterations?.values.count ?? 0;
  const completeness = validity.completeness(
    measured.plannedIterations,
    iterations,
    measured.plannedSeconds,
    measured.seconds,
  );
  const checks = [
    ...(measured.limit ? [] : [completeness]),
    validity.generatorCpu(measured.usage),
    validity.droppedIterations(metrics.dropped_iterations?.values.count ?? 0),
    validity.processesAlive(measured.usage),
    validity.roundsFinished(metrics.rounds_begun?.values.count ?? 0, iterations),
    ...operations.map((row) => validity.clockSane(row.name, row.latency_ms?.min)),
    ...operations.map((row) => validity.sampleCount(row.name, row.latency_ms?.count ?? 0, thresholds)),
    ...operations.map((row) => {
      const lateness = /** @type {any} */ (metrics[submetric('operation_lateness_ms', row.name)]?.values);
      return validity.generatorLateness(row.name, row.loop, lateness, row.latency_ms?.p99 ?? null);
    }),
  ].filter((check) => check !== undefined);
  const left = metrics.cleanup_left?.values.count ?? 0;
  const notes =
    left > 0
      ? [`${left} topics could not be removed from the target; their names begin with the run's id`]
      : [];
  const { limit, bounds } = measured;
  const found = limit
    ? findLimit(metrics, bounds, limit.steps, limit.loadOf, checks)
    : { notes: [], ...decide(thresholds, checks, operations) };
  return {
    operations,
    components: [],
    processes: processesOf(measured.usage),
    thresholds,
    validity: checks,
    ...found,
    notes: [...notes, ...found.notes],
  };
}
