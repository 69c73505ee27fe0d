/** A threshold in words, such as "P50 0.561 ms" and "at most 0.01 ms": the only place that writes them. */
import { beside, count, ms, rate, share, thousands } from './numbers.js';

/**
 * @typedef {{ metric: string, expression: string, value: number | null }} Line
 * @typedef {{ measured: string, required: string }} Words
 */

/** Of k6's names for what it aggregates a trend to. */
const AGGREGATES = /** @type {Record<string, string>} */ ({
  avg: 'average',
  med: 'P50',
  'p(90)': 'P90',
  'p(95)': 'P95',
  'p(99)': 'P99',
  'p(99.9)': 'P99.9',
});

/** What an expression of k6's aggregates to. @param {string} expression */
export const keyOf = (expression) => expression.replace(/[<>=].*$/, '');

/** @param {string} aggregate k6's name */
export const aggregateOf = (aggregate) => AGGREGATES[aggregate] ?? aggregate;

/** @param {number} value @param {string} singular @param {string} plural */
const counted = (value, singular, plural) => `${count(value)} ${value === 1 ? singular : plural}`;

/**
 * How what each metric measured is written, beside its bound.
 * @type {Record<string, (value: number, bound: number, aggregate: string, items?: string) => string>}
 */
const MEASURED = {
  operation_ms: (value, bound, aggregate) => `${aggregateOf(aggregate)} ${beside(ms, value, bound)} ms`,
  operation_failed: (value, bound) => `${beside(share, value, bound)} failed`,
  operation_errors: (value) => counted(value, 'error', 'errors'),
  operation_anomalies: (value) => counted(value, 'anomaly', 'anomalies'),
  operation_items: (value, _bound, _aggregate, items) =>
    items ? `${count(value)} ${items}` : counted(value, 'success', 'successes'),
  successes: (value) => counted(value, 'success', 'successes'),
  rate: (value, bound) => `rate ${beside(rate, value, bound)}/s`,
};

/** @type {Record<string, string>} */
const UNITS = { operation_ms: ' ms', rate: '/s' };

/** @param {string} metric @param {number} bound */
const boundOf = (metric, bound) =>
  metric === 'operation_failed'
    ? `${Number((bound * 100).toPrecision(12))}%`
    : `${thousands(String(bound))}${UNITS[metric] ?? ''}`;

/** A value that is the bound itself does not hold where k6's operator is strict. @param {string} operator @param {boolean} equal */
function relationOf(operator, equal) {
  if (operator === '<' && equal) return 'below';
  if (operator === '>' && equal) return 'above';
  return operator.startsWith('<') ? 'at most' : 'at least';
}

/**
 * @param {Line} line
 * @param {string} [items] what a success carries, in the plural, where it carries many
 * @returns {Words}
 */
export function wordsOf({ metric, expression, value }, items) {
  const aggregate = keyOf(expression);
  const operator =
    expression[aggregate.length + 1] === '='
      ? `${expression[aggregate.length]}=`
      : expression[aggregate.length];
  const bound = Number(expression.slice(aggregate.length + operator.length));
  return {
    measured:
      value === null
        ? `${aggregateOf(aggregate)}: no sample`
        : MEASURED[metric](value, bound, aggregate, items),
    required: `${relationOf(operator, value === bound)} ${boundOf(metric, bound)}`,
  };
}

/** @param {Words} words */
export const sentenceOf = ({ measured, required }) => `${measured}, ${required}`;
