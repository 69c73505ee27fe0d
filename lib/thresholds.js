/**
 * From bounds ({ 'p(95)': 250, failed: 0 }) to k6 thresholds, and back from k6's
 * summary to judged lines of a result. In k6 a Trend without samples satisfies
 * any p(95)<N, so each latency bound comes with a count of successes.
 * https://grafana.com/docs/k6/latest/using-k6/thresholds/
 */
import { KINDS } from './errors.js';
import { keyOf, wordsOf } from './threshold-words.js';

/**
 * @typedef {import('./environment.js').Bounds} Bounds
 * @typedef {{ operation: string, metric: string, expression: string, value: number | null, unit: 'ms' | 'share' | 'count' | 'per_s', ok: boolean }} Line
 * @typedef {Line & import('./threshold-words.js').Words} Judged
 * @typedef {{ type: string, values: Record<string, number>, thresholds?: Record<string, { ok: boolean }> }} SummaryMetric
 */

const LATENCY_KEYS = /** @type {const} */ (['avg', 'p(50)', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max']);

/** Base of every run; a scenario and an environment only say what differs. */
export const DEFAULT_BOUNDS = /** @type {Bounds} */ ({ failed: 0, errors: 0 });

/** In long runs on a shared network a stray failure is no verdict. */
export const LONG_RUN_BOUNDS = /** @type {Bounds} */ ({ failed: 0.001, anomalies: 0 });

/** @param {string} metric @param {string} operation */
export const submetric = (metric, operation) => `${metric}{operation:${operation}}`;

/** @param {string} operation @param {string} kind */
export const errorMetric = (operation, kind) => `operation_errors{operation:${operation},kind:${kind}}`;

/** @param {Bounds} bounds */
function latencyExpressions(bounds) {
  const own = LATENCY_KEYS.filter((key) => bounds[key] !== undefined);
  return own.map((key) => `${key === 'p(50)' ? 'med' : key}<${bounds[key]}`);
}

/** Holds for any sample and for none: it only makes k6 keep the submetric for the summary. */
const KEEP = { trend: 'min>=0', counter: 'count>=0', gauge: 'value>=0' };

/**
 * k6's options.thresholds for the operations.
 * @param {Record<string, { bounds: Bounds, leastItems: number, countedBy: 'operation_items' | 'iterations' }>} operations
 *   bounds, the fewest items that the run must carry, and the metric that counts them
 * @param {Record<string, 'trend' | 'counter'>} [more] metrics that the summary needs by operation too
 */
export function k6Thresholds(operations, more = {}) {
  /** @type {Record<string, any[]>} */
  const thresholds = {
    cleanup_left: [KEEP.counter],
    rounds_begun: [KEEP.counter],
    target_silent_since_ms: [KEEP.gauge],
  };
  for (const [name, { bounds, leastItems, countedBy }] of Object.entries(operations)) {
    const { failed, errors, anomalies } = bounds;
    thresholds[submetric('operation_ms', name)] = [KEEP.trend, ...latencyExpressions(bounds)];
    thresholds[submetric(countedBy, name)] = [leastItems > 0 ? `count>=${leastItems}` : KEEP.counter];
    thresholds[submetric('operation_failed', name)] = [`rate<=${failed ?? 1}`];
    thresholds[submetric('operation_errors', name)] = [
      errors === undefined ? KEEP.counter : `count<=${errors}`,
    ];
    thresholds[submetric('operation_anomalies', name)] = [
      anomalies === undefined ? KEEP.counter : `count<=${anomalies}`,
    ];
    thresholds[submetric('operation_begun', name)] = [KEEP.counter];
    thresholds[submetric('operation_clock_ms', name)] = [KEEP.gauge];
    thresholds[submetric('operation_lateness_ms', name)] = [KEEP.trend];
    for (const kind of KINDS) thresholds[errorMetric(name, kind)] = [KEEP.counter];
    for (const [metric, type] of Object.entries(more)) thresholds[submetric(metric, name)] = [KEEP[type]];
  }
  return thresholds;
}

/** Thresholds that only keep submetrics for the summary. @param {Record<string, keyof typeof KEEP>} submetrics */
export const keepThresholds = (submetrics) =>
  Object.fromEntries(Object.entries(submetrics).map(([name, type]) => [name, [KEEP[type]]]));

/**
 * The lines of one metric that bound something, with the value that k6 judged.
 * @param {Record<string, SummaryMetric>} metrics
 * @param {string} metric
 * @param {string} operation
 * @param {Judged['unit']} unit
 * @returns {Line[]}
 */
function judgedOf(metrics, metric, operation, unit) {
  const name = submetric(metric, operation);
  const found = metrics[name];
  if (!found) return [];
  const empty = metric === 'operation_ms' && found.values.count === 0;
  return Object.entries(found.thresholds ?? {})
    .filter(([expression]) => !Object.values(KEEP).includes(expression) && expression !== 'rate<=1')
    .map(([expression, { ok }]) => ({
      operation,
      metric,
      expression,
      value: empty ? null : found.values[keyOf(expression)],
      unit,
      ok,
    }));
}

/**
 * k6 counts iterations, failed ones too; a result goes by the successes among them.
 * @param {Record<string, SummaryMetric>} metrics
 * @param {string} operation
 * @param {number} success
 * @returns {Line[]}
 */
function successesOf(metrics, operation, success) {
  return judgedOf(metrics, 'iterations', operation, 'count').map((line) => ({
    ...line,
    metric: 'successes',
    value: success,
    ok: success >= Number(line.expression.replace('count>=', '')),
  }));
}

/**
 * k6 does not know of requests that were cut: they failed, too.
 * @param {Record<string, SummaryMetric>} metrics
 * @param {{ name: string, requests: number, success: number, errors: Record<string, number> }} row
 * @returns {Line[]}
 */
function failedOf(metrics, { name, requests, success, errors }) {
  const lines = judgedOf(metrics, 'operation_failed', name, 'share');
  if (!errors.cut) return lines;
  const value = (requests - success) / requests;
  return lines.map((line) => ({
    ...line,
    value,
    ok: value <= Number(line.expression.replace('rate<=', '')),
  }));
}

/**
 * @param {Record<string, SummaryMetric>} metrics of handleSummary's data
 * @param {{ name: string, requests: number, success: number, errors: Record<string, number>, rate_per_s: number | null, items?: { name: string } }} row of the operation
 * @param {Bounds} bounds
 * @returns {Judged[]}
 */
export function judge(metrics, row, bounds) {
  const { name: operation, success, rate_per_s: ratePerSecond, items } = row;
  const lines = [
    ...judgedOf(metrics, 'operation_items', operation, 'count'),
    ...successesOf(metrics, operation, success),
    ...judgedOf(metrics, 'operation_ms', operation, 'ms'),
    ...failedOf(metrics, row),
    ...judgedOf(metrics, 'operation_errors', operation, 'count'),
    ...judgedOf(metrics, 'operation_anomalies', operation, 'count'),
    ...rateOf(operation, ratePerSecond, bounds.rate),
  ];
  return lines.map((line) => ({ ...line, ...wordsOf(line, items?.name) }));
}

/** A wait through the proxy may be so many times the same without it, and so many ms whatever that is. */
const AGAINST_CONTROL = { times: 20, ms: 20 };

/**
 * Without a baseline gross slowness has nothing to be seen by but the control.
 * @param {{ name: string, latency_ms: { p50: number | null } | null }} row
 * @param {{ latency_ms: { p50: number | null } | null }} control that does the same without the proxy
 * @returns {Judged[]}
 */
export function againstControl({ name: operation, latency_ms: own }, { latency_ms: direct }) {
  const [value, without] = [own?.p50 ?? null, direct?.p50 ?? null];
  if (value === null || without === null) return [];
  const bound = Math.max(AGAINST_CONTROL.ms, Number((AGAINST_CONTROL.times * without).toPrecision(3)));
  /** @type {Line} */
  const line = {
    operation,
    metric: 'operation_ms',
    expression: `med<${bound}`,
    value,
    unit: 'ms',
    ok: value < bound,
  };
  return [{ ...line, ...wordsOf(line) }];
}

/**
 * k6 divides by the whole test's time; only the operation's own window is its rate.
 * @param {string} operation
 * @param {number | null} value
 * @param {number | undefined} least
 * @returns {Line[]}
 */
function rateOf(operation, value, least) {
  if (least === undefined) return [];
  const ok = value !== null && value >= least;
  return [{ operation, metric: 'rate', expression: `rate>=${least}`, value, unit: 'per_s', ok }];
}
