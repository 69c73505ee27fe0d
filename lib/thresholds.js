/**
 * From bounds ({ 'p(95)': 250, failed: 0 }) to k6 thresholds, and to judged lines of a result. In k6 a Trend without
 * samples satisfies any p(95)<N, so each latency bound comes with a count of successes.
 * https://grafana.com/docs/k6/latest/using-k6/thresholds/
 */
import { wordsOf } from './threshold-words.js';

/**
 * @typedef {import('./environment.js').Bounds} Bounds
 * @typedef {{ operation: string, metric: string, expression: string, value: number | null, unit: 'ms' | 'share' | 'count' | 'per_s', ok: boolean }} Line
 * @typedef {Line & import('./threshold-words.js').Words} Judged
 * @typedef {{ values: Record<string, number> }} SummaryMetric
 * @typedef {object} Wanted of an operation
 * @property {Bounds} bounds
 * @property {number} leastItems that it must carry, of a complete run
 * @property {boolean} [uncounted] each of the k6 scenario's iterations carries one, and k6 counts them
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

/** @typedef {{ metric: string, aggregate: string, operator: '<' | '<=' | '>=', bound: number, unit: Judged['unit'] }} Bounded */

/** What the bounds of an operation ask of its metrics. @param {Wanted} wanted @returns {Bounded[]} */
function boundedOf({ bounds, leastItems, uncounted }) {
  const latencies = LATENCY_KEYS.map((key) => ({
    metric: 'operation_ms',
    aggregate: key === 'p(50)' ? 'med' : key,
    operator: /** @type {const} */ ('<'),
    bound: bounds[key],
    unit: /** @type {const} */ ('ms'),
  }));
  const { failed, errors, anomalies } = bounds;
  const most = /** @type {const} */ ('<=');
  const count = /** @type {const} */ ({ aggregate: 'count', unit: 'count' });
  const all = [
    {
      ...count,
      metric: uncounted ? 'iterations' : 'operation_items',
      operator: /** @type {const} */ ('>='),
      bound: leastItems || undefined,
    },
    ...latencies,
    {
      metric: 'operation_failed',
      aggregate: 'rate',
      operator: most,
      // All may fail: that bounds nothing.
      bound: failed === 1 ? undefined : failed,
      unit: /** @type {const} */ ('share'),
    },
    { ...count, metric: 'operation_errors', operator: most, bound: errors },
    { ...count, metric: 'operation_anomalies', operator: most, bound: anomalies },
  ];
  return all.flatMap((one) => (one.bound === undefined ? [] : [{ ...one, bound: one.bound }]));
}

/** @param {Bounded} bounded */
const expressionOf = ({ aggregate, operator, bound }) => `${aggregate}${operator}${bound}`;

/**
 * k6's options.thresholds for the operations, so that a plain `k6 run` ends by them too.
 * @param {Record<string, Wanted>} operations
 */
export function k6Thresholds(operations) {
  /** @type {Record<string, any[]>} */
  const thresholds = {};
  for (const [name, wanted] of Object.entries(operations)) {
    for (const bounded of boundedOf(wanted)) {
      const metric = submetric(bounded.metric, name);
      thresholds[metric] = [...(thresholds[metric] ?? []), expressionOf(bounded)];
    }
  }
  return thresholds;
}

/** @param {number} value @param {Bounded} bounded */
function holds(value, { operator, bound }) {
  if (operator === '<') return value < bound;
  return operator === '<=' ? value <= bound : value >= bound;
}

/**
 * What a metric came to. k6 counts iterations, failed ones too: a result goes by the successes among them. It does not
 * know of requests that were cut: they failed, too.
 * @param {Record<string, SummaryMetric>} metrics
 * @param {Row} row
 * @param {Bounded} bounded
 */
function valueOf(metrics, { name, requests, success, errors }, { metric, aggregate }) {
  if (metric === 'iterations') return success;
  if (metric === 'operation_failed' && errors.cut) return (requests - success) / requests;
  return metrics[submetric(metric, name)]?.values[aggregate] ?? 0;
}

/** @typedef {{ name: string, requests: number, success: number, errors: Record<string, number>, rate_per_s: number | null, items?: { name: string } }} Row */

/**
 * @param {Record<string, SummaryMetric>} metrics that were measured
 * @param {Row} row of the operation
 * @param {Wanted} wanted
 * @returns {Judged[]}
 */
export function judge(metrics, row, wanted) {
  const { name: operation, success, rate_per_s: ratePerSecond, items } = row;
  const lines = boundedOf(wanted).map((bounded) => {
    const value = valueOf(metrics, row, bounded);
    return {
      operation,
      metric: bounded.metric === 'iterations' ? 'successes' : bounded.metric,
      expression: expressionOf(bounded),
      value: bounded.unit === 'ms' && success === 0 ? null : value,
      unit: bounded.unit,
      ok: holds(value, bounded),
    };
  });
  return [...lines, ...rateOf(operation, ratePerSecond, wanted.bounds.rate)].map((line) => ({
    ...line,
    ...wordsOf(line, items?.name),
  }));
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
