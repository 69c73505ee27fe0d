/** The few lines that a single `k6 run` prints; k6 x report prints the whole. */

const COLUMNS = ['operation', 'requests', 'success', 'rate /s', 'avg ms', 'p50 ms', 'p95 ms', 'p99 ms'];

/** @param {number | null | undefined} value */
const number = (value) => (value === null || value === undefined ? '—' : value.toFixed(value < 10 ? 3 : 1));

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
    String(row.requests),
    String(row.success),
    number(row.rate_per_s),
    number(row.latency_ms?.avg),
    number(row.latency_ms?.p50),
    number(row.latency_ms?.p95),
    number(row.latency_ms?.p99),
  ]);
  const { run } = result;
  return [
    '',
    `${run.system}/${run.scenario} (${run.profile}) on ${run.environment}: ${result.verdict}`,
    ...align([COLUMNS, ...rows]),
    ...result.reasons.map((/** @type {string} */ reason) => `  ! ${reason}`),
    ...result.notes.map((/** @type {string} */ note) => `  · ${note}`),
    '',
  ].join('\n');
}
