/** The few lines that a single `k6 run` prints; k6 x report prints the whole. */
import { count, ms, rate } from './numbers.js';
import { repeatedLine } from './repeated.js';

const COLUMNS = ['operation', 'requests', 'success', 'rate /s', 'avg ms', 'P50 ms', 'P95 ms', 'P99 ms'];

/** Reasons are folded already; these are the first of them. */
const REASONS_MOST = 5;

/** @param {number | null | undefined} value @param {(value: number) => string} write */
const number = (value, write) => (value === null || value === undefined ? '—' : write(value));

/** @param {import('./reasons.js').Folded[]} reasons */
function reasonLines(reasons) {
  if (reasons.length <= REASONS_MOST) return reasons.map(({ text }) => text);
  const shown = reasons.slice(0, REASONS_MOST - 1).map(({ text }) => text);
  return [...shown, `and ${reasons.length - shown.length} more: the result has them`];
}

/** @param {string[][]} rows the first column to the left, the others to the right */
function align(rows) {
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  '),
  );
}

/** @param {any} result */
export function toText(result) {
  const rows = result.operations.map((/** @type {any} */ row) => [
    row.name,
    count(row.requests),
    count(row.success),
    number(row.rate_per_s, rate),
    number(row.latency_ms?.avg, ms),
    number(row.latency_ms?.p50, ms),
    number(row.latency_ms?.p95, ms),
    number(row.latency_ms?.p99, ms),
  ]);
  const { run } = result;
  return [
    '',
    `${run.system}/${run.scenario} (${run.profile}) on ${run.environment}: ${result.verdict}`,
    ...align([COLUMNS, ...rows]),
    ...reasonLines(result.reasons).map((reason) => `  ! ${reason}`),
    ...repeatedLine(result.repeated).map((line) => `  · ${line}`),
    ...result.notes.map((/** @type {string} */ note) => `  · ${note}`),
    '',
  ].join('\n');
}
