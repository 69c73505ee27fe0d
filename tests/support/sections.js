/** The sections of a result as values by the names of their columns. */

/** @param {any} result @param {string} name @param {string} [operation] */
export const sectionOf = (result, name, operation) =>
  result.sections.find(
    (/** @type {any} */ one) => one.name === name && (operation === undefined || one.operation === operation),
  );

/** @param {any} section @returns {Record<string, any>[]} */
export const rowsOf = ({ columns, rows }) =>
  rows.map((/** @type {any[]} */ row) =>
    Object.fromEntries(row.map((cell, index) => [columns[index].name, cell])),
  );

/** @param {any} cell */
const spread = (cell) => cell && { median: cell.value, min: cell.low, max: cell.high };

/** @param {Record<string, any>} row of a side's section */
function sideOf({ outcome, detail, known, row: _row, ...figures }) {
  const spreads = Object.entries(figures).map(([name, cell]) => [name, spread(cell)]);
  return { outcome, detail, known, figures: Object.fromEntries(spreads) };
}

const TARGETS = ['throughput', 'latency', 'memory', 'first_reply'];

/**
 * Rows of protocols with both sides, by the sections of a result.
 * @param {any} result
 * @returns {any[]}
 */
export function protocolRows(result) {
  const of = (/** @type {string} */ name) => {
    const section = sectionOf(result, name);
    return Object.fromEntries((section ? rowsOf(section) : []).map((row) => [row.row, row]));
  };
  const [baseline, candidate, compared] = ['baseline', 'candidate', 'comparison'].map(of);
  return Object.values(baseline).map((own) => ({
    row: own.row,
    baseline: sideOf(own),
    candidate: candidate[own.row] ? sideOf(candidate[own.row]) : null,
    compared: compared[own.row] ?? null,
    judged: Object.fromEntries(
      compared[own.row] ? TARGETS.map((target) => [target, compared[own.row][`${target}_judged`]]) : [],
    ),
  }));
}

/** @param {any} result @param {string} name */
export const protocolRow = (result, name) => protocolRows(result).find(({ row }) => row === name);
