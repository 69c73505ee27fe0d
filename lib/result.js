/**
 * From k6's summary data to a result: the JSON that k6/schemas/result.schema.json
 * describes and k6 x report prints.
 */
import { KINDS } from './errors.js';
import { findLimit } from './limit.js';
import { PERCENTILES, carries } from './percentiles.js';
import { againstControl, errorMetric, judge, submetric } from './thresholds.js';
import * as validity from './validity.js';
import { controlsHold, generatorLimits } from './meter-faults.js';
import { placementLoad } from './placement-load.js';
import { targetAnswers } from './silence.js';
import { ABOUT_ERRORS, decide, withIntegrity } from './verdict.js';

/**
 * @typedef {import('./thresholds.js').SummaryMetric} SummaryMetric
 * @typedef {Record<string, SummaryMetric>} Metrics
 * @typedef {'mbit_per_s' | 'rate_per_s' | 'p50'} Figure
 * @typedef {object} OperationSpec
 * @property {string} title
 * @property {'closed' | 'open'} loop
 * @property {string} latencyIs from what to what the latency is measured
 * @property {string} [items] name of what a request carries, where it carries many
 * @property {string} [control] the operation that does the same without the system under test
 * @property {boolean} [againstControl] whether its P50 is judged by its control's, so that gross slowness fails
 * @property {boolean} [saturates] it sends as much as comes through, so that the meter may be the limit
 * @property {boolean} [answersItself] the system answers, and asks no far end: direct, where a far end answers, is not its limit
 * @property {boolean} [optional] a complete run may have none of it
 * @property {number} [plannedSeconds] that it was meant to last, where time bounds it
 * @property {Figure} [primary] what a comparison must find within its bound
 */

/** Of milliseconds, seconds or rates: a direct round trip takes hundredths of a millisecond. @param {number} value */
const rounded = (value) => Math.round(value * 1e5) / 1e5;

/**
 * @param {Record<string, number>} values of a Trend
 * @param {Record<string, number> | undefined} lateness of the generator, which is in them
 */
function latencyOf(values, lateness) {
  if (values.count === 0) return null;
  const percentiles = PERCENTILES.map(([field, key, share]) => [
    field,
    carries(share, values.count) && validity.toldApart(values[key], lateness?.[key])
      ? rounded(values[key])
      : null,
  ]);
  return {
    count: values.count,
    avg: rounded(values.avg),
    min: rounded(values.min),
    ...Object.fromEntries(percentiles),
    max: rounded(values.max),
  };
}

/** Only an open loop's is in its latency. @param {(metric: string) => Record<string, number> | undefined} of @param {OperationSpec} spec */
const latenessOf = (of, { loop }) => (loop === 'open' ? of('operation_lateness_ms') : undefined);

/** @param {Metrics} metrics @param {string} name */
function errorsOf(metrics, name) {
  const counts = KINDS.map((kind) => [kind, metrics[errorMetric(name, kind)]?.values.count ?? 0]);
  return /** @type {Record<string, number>} */ (
    Object.fromEntries(counts.filter(([, count]) => Number(count) > 0))
  );
}

/** @param {OperationSpec} spec */
const primaryOf = ({ primary }) => (primary ? { primary } : {});

/**
 * One row of the table. A rate is counted over the operation's own window, not over
 * k6's whole run: from its first start to its last end, and no less than the planned
 * time where time bounds it, or the parts of the run that a probe measured. What was
 * begun and neither succeeded nor failed was cut, and is a failed request.
 * @param {Metrics} metrics
 * @param {string} name
 * @param {OperationSpec} spec
 * @param {number} [plannedSeconds] that it was meant to last, where time bounds it; the least that its window is
 */
export function operationOf(metrics, name, spec, plannedSeconds = 0) {
  const of = (/** @type {string} */ metric) => metrics[submetric(metric, name)]?.values;
  const latency = of('operation_ms') ?? { count: 0 };
  // An interrupt may fall between two samples of one request: each success is counted by its latency alone.
  const success = latency.count;
  // For k6 a sample of true is a pass: here it means a failed request.
  const ended = success + (of('operation_failed')?.passes ?? 0);
  const requests = Math.max(ended, of('operation_begun')?.count ?? 0);
  const cut = requests - ended;
  const windowSeconds = requests === 0 ? 0 : windowOf(of, plannedSeconds);
  const perSecond = (/** @type {number} */ count) =>
    windowSeconds > 0 ? Math.round((count / windowSeconds) * 1000) / 1000 : null;
  const carried = of('operation_items')?.count ?? 0;
  return {
    name,
    title: spec.title,
    loop: spec.loop,
    ...primaryOf(spec),
    latency_is: spec.latencyIs,
    requests,
    success,
    errors: { ...errorsOf(metrics, name), ...(cut > 0 ? { cut } : {}) },
    window_s: windowSeconds,
    rate_per_s: perSecond(success),
    ...(spec.items ? { items: { name: spec.items, count: carried, rate_per_s: perSecond(carried) } } : {}),
    latency_ms: latencyOf(latency, latenessOf(of, spec)),
    ...probedOf(of, windowSeconds, success),
  };
}

/**
 * Seconds that a row's rate is counted over.
 * @param {(metric: string) => Record<string, number> | undefined} of
 * @param {number} plannedSeconds
 */
function windowOf(of, plannedSeconds) {
  const probed = of('operation_active_s')?.count || undefined;
  const clock = of('operation_clock_ms') ?? { min: 0, max: 0 };
  return probed ?? Math.max(plannedSeconds, rounded((clock.max - clock.min) / 1000));
}

/**
 * What only a probe tells: bytes moved, and CPU time for each operation.
 * @param {(metric: string) => Record<string, number> | undefined} of
 * @param {number} seconds
 * @param {number} success
 */
function probedOf(of, seconds, success) {
  const sum = (/** @type {string} */ name) => of(`operation_${name}`)?.count ?? 0;
  // Of a counter without samples k6 says 0, as of one that counted nothing.
  if (sum('active_s') === 0) return {};
  const [bytes, probe] = [sum('bytes'), sum('probe_cpu_s')];
  const system = sum('system_peak_bytes') > 0 ? sum('system_cpu_s') : undefined;
  const each = (/** @type {number | undefined} */ cpu) =>
    cpu === undefined || success === 0 ? null : rounded((cpu * 1e6) / success);
  return {
    // A handshake carries nothing.
    ...(bytes > 0
      ? { transfer: { bytes, mbit_per_s: seconds > 0 ? rounded((bytes * 8) / seconds / 1e6) : null } }
      : {}),
    cpu: {
      system_s: system ?? null,
      system_us_per_operation: each(system),
      probe_s: probe,
      probe_us_per_operation: each(probe),
    },
  };
}

/**
 * What the system adds to its control, where an operation has one.
 * @param {ReturnType<typeof operationOf>[]} rows
 * @param {Record<string, OperationSpec>} specs
 */
export function controlsOf(rows, specs) {
  const pairs = rows.flatMap((row) => {
    const control = rows.find((other) => other.name === specs[row.name].control);
    return control ? [{ row, control }] : [];
  });
  return pairs.map(({ row, control }) => {
    const added = (/** @type {'p50' | 'p95' | 'p99'} */ key) => {
      const [own, other] = [row.latency_ms, control.latency_ms].map((latency) => latency?.[key] ?? null);
      return own === null || other === null ? null : rounded(own - other);
    };
    const comparable = row.rate_per_s !== null && control.rate_per_s;
    return {
      operation: row.name,
      control: control.name,
      p50_ms: added('p50'),
      p95_ms: added('p95'),
      p99_ms: added('p99'),
      rate_ratio: comparable ? rounded(/** @type {number} */ (row.rate_per_s) / comparable) : null,
    };
  });
}

/**
 * @param {ReturnType<typeof operationOf>} row
 * @param {ReturnType<typeof operationOf>[]} rows
 * @param {OperationSpec} spec
 */
function waitsOf(row, rows, { control: name, againstControl: judged }) {
  const control = judged && rows.find((other) => other.name === name);
  return control ? againstControl(row, control) : [];
}

/** @param {import('./sidecar.js').Usage | null} usage */
function processesOf(usage) {
  if (!usage) return [];
  const rows = usage.processes.map(
    ({ name, role, cpu_s, cpu_percent, peak_rss_bytes, peak_anon_bytes, exit }) => ({
      name,
      role,
      cpu_s,
      cpu_percent,
      peak_rss_bytes,
      peak_anon_bytes,
      exit,
    }),
  );
  if (!rows.some((row) => row.role === 'system')) return rows;
  return [...rows, { name: 'total', role: 'total', ...usage.total, exit: null }];
}

/**
 * @typedef {object} Measured
 * @property {Metrics} metrics
 * @property {Record<string, OperationSpec>} operations
 * @property {Record<string, import('./thresholds.js').Wanted>} wanted of the operations
 * @property {Record<string, import('./environment.js').Bounds>} bounds of their steps, where it looks for the limit
 * @property {import('./sidecar.js').Usage | null} usage
 * @property {number | undefined} plannedIterations
 * @property {number} plannedSeconds
 * @property {number} seconds how long the load lasted
 * @property {{ steps: import('./limit.js').Steps, loadOf: (step: number) => string } | undefined} limit of a run
 *   that looks for the limit (profile breakpoint)
 * @property {import('./placement-load.js').Cpus} [placement] which CPUs did what
 * @property {string} leftovers what a run may leave on the target
 * @property {import('./verdict.js').Integrity[] | undefined} integrity
 */

/**
 * All of a result but its `run`.
 * @param {Measured} measured
 */
export function evaluate(measured) {
  const { metrics } = measured;
  // A run that ended early has no more time than it had.
  const whole = validity.lastedAsPlanned(measured.plannedSeconds, measured.seconds);
  const operations = Object.entries(measured.operations).map(([name, spec]) =>
    operationOf(metrics, name, spec, whole ? spec.plannedSeconds : 0),
  );
  const thresholds = operations.flatMap((row) => [
    ...judge(metrics, row, measured.wanted[row.name]),
    ...waitsOf(row, operations, measured.operations[row.name]),
  ]);
  const controls = controlsOf(operations, measured.operations);
  const checks = checksOf(measured, operations, thresholds, controls);
  const left = metrics.cleanup_left?.values.count ?? 0;
  const notes = left > 0 ? [`${left} could not be removed from the target: ${measured.leftovers}`] : [];
  const { limit, bounds, integrity } = measured;
  const judged = limit
    ? findLimit(metrics, bounds, limit.steps, limit.loadOf, checks)
    : { notes: [], ...decide(thresholds, checks, operations, controls) };
  const found = withIntegrity(judged, integrity ?? [], checks);
  return {
    operations,
    ...(controls.length > 0 ? { controls } : {}),
    components: [],
    processes: processesOf(measured.usage),
    thresholds,
    validity: checks,
    ...(integrity ? { integrity } : {}),
    ...found,
    notes: [...notes, ...found.notes],
  };
}

/**
 * @param {Measured} measured
 * @param {ReturnType<typeof operationOf>[]} operations
 * @param {import('./thresholds.js').Judged[]} thresholds
 * @param {ReturnType<typeof controlsOf>} controls
 */
function checksOf(measured, operations, thresholds, controls) {
  const { metrics } = measured;
  const counted = (/** @type {string} */ metric) => metrics[metric]?.values.count ?? 0;
  const iterations = counted('iterations');
  const neighbours = placementLoad(measured.usage?.host.by_cpu, measured.placement);
  const completeness = validity.completeness(
    measured.plannedIterations,
    iterations,
    measured.plannedSeconds,
    measured.seconds,
  );
  return [
    ...(measured.limit ? [] : [completeness]),
    validity.generatorCpu(
      measured.usage,
      controls.length > 0,
      counted('own_instances_cpu_s'),
      neighbours !== undefined,
    ),
    ...controls.map((control) => {
      const { saturates, answersItself } = measured.operations[control.operation];
      if (!saturates || !answersItself) return validity.headroom(control, saturates);
      return validity.probeHeadroom(operations.find(({ name }) => name === control.operation));
    }),
    validity.droppedIterations(counted('dropped_iterations')),
    neighbours,
    ...validity.processesAlive(measured.usage),
    targetAnswers(metrics.target_silent_since_ms?.values.value),
    generatorLimits(operations),
    controlsHold(
      controls.map(({ control }) => control),
      thresholds.filter(({ ok, metric }) => !ok && ABOUT_ERRORS.includes(metric)),
    ),
    validity.probesWhole(metrics.probes_cut?.values.count),
    validity.roundsFinished(counted('rounds_begun'), iterations),
    ...operations.map((row) => validity.clockSane(row.name, row.latency_ms?.min)),
    ...operations
      .filter((row) => row.requests > 0 || !measured.operations[row.name].optional)
      .map((row) => validity.sampleCount(row.name, row.latency_ms?.count ?? 0, thresholds)),
    ...operations.map((row) => {
      const lateness = /** @type {any} */ (metrics[submetric('operation_lateness_ms', row.name)]?.values);
      return validity.generatorLateness(row, lateness, thresholds);
    }),
  ].filter((check) => check !== undefined);
}
