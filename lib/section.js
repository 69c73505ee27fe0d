/**
 * What a scenario shows beyond its operations: tables that reports, boards and comparisons take as they are. Columns have a
 * unit, which says how their cells are written; k6/schemas/result.schema.json has all fields.
 */

/**
 * @typedef {import('k6/x/windtunnel/judge').Section} Section
 * @typedef {import('k6/x/windtunnel/judge').Cell} Cell
 * @typedef {Pick<import('k6/x/windtunnel/judge').Evidence, 'sections' | 'protocols' | 'interop'>} More what a scenario shows, and
 *   rows of programs that decide
 */

/**
 * @template Row
 * @typedef {import('k6/x/windtunnel/judge').Column & { of?: (row: Row) => Cell | undefined }} Column `of` is its cell of a row;
 *   the row's field of the column's name unless given
 */

/**
 * @template Row
 * @param {Omit<Section, 'columns' | 'rows'> & { columns: Column<Row>[], rows: Row[] }} table
 * @returns {Section}
 */
export const sectionOf = ({ columns, rows, ...about }) => ({
  ...about,
  columns: columns.map(({ of: _of, ...column }) => column),
  rows: rows.map((row) =>
    columns.map(({ name, of = (one) => /** @type {any} */ (one)[name] }) => of(row) ?? null),
  ),
});

/**
 * A median with the least and the most.
 * @param {import('./dataplane/sweep.js').Spread | null | undefined} spread
 * @param {number} [unit] of the cell in those of the spread
 */
export const rangeOf = (spread, unit = 1) =>
  spread ? { value: spread.median / unit, low: spread.min / unit, high: spread.max / unit } : null;
