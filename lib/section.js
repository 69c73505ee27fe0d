/**
 * Results beyond a scenario's operations: tables that reports, boards and comparisons print without knowing them. The unit
 * of a column decides the format of its cells. k6/schemas/result.schema.json describes all fields.
 */
import { spreadOf } from './spread.js';

/**
 * @typedef {import('k6/x/windtunnel/judge').Section} Section
 * @typedef {import('k6/x/windtunnel/judge').Cell} Cell
 * @typedef {Pick<import('k6/x/windtunnel/judge').Evidence, 'protocols' | 'interop'> & { sections: (Section | null)[] }} More sections of a
 *   scenario, null for one that this run has not, and rows that decide the verdict of a protocol comparison
 */

/** @typedef {Omit<import('k6/x/windtunnel/judge').Column, 'name' | 'title' | 'unit'>} Look */
/**
 * @template Row
 * @typedef {import('k6/x/windtunnel/judge').Column & { of?: Of<Row> }} ColumnObject `of` computes the cell of a row. Default: the row's field with
 *   the column's name
 */
/** @template Row @typedef {(row: Row) => Cell | undefined} Of */
/**
 * @template Row
 * @typedef {ColumnObject<Row> | [name: string, title: string, unit: string, ofOrLook?: Of<Row> | Look, look?: Look]} Column as an object, or as a line of
 *   a table: name, title, unit, then `of`, then other fields of the object
 */

/** @template Row @param {Column<Row>} column @returns {ColumnObject<Row>} */
function objectOf(column) {
  if (!Array.isArray(column)) return column;
  const [name, title, unit, ...rest] = column;
  return Object.assign(
    { name, title, unit },
    ...rest.map((one) => (typeof one === 'function' ? { of: one } : one)),
  );
}

/**
 * A falsy note, and a finding or a headline that is null or false, are left out.
 * @template Row
 * @param {Omit<Section, 'columns' | 'rows' | 'finding' | 'headline' | 'notes'> & { columns: Column<Row>[], rows: Row[], finding?: string | false | null,
 *   headline?: Section['headline'] | false | null, notes?: (string | false | null | undefined)[] }} table
 * @returns {Section}
 */
export function sectionOf({ columns: given, rows, finding, headline, notes, ...about }) {
  const columns = given.map(objectOf);
  return {
    ...about,
    columns: columns.map(({ of: _of, ...column }) => column),
    rows: rows.map((row) =>
      columns.map(({ name, of = (one) => /** @type {any} */ (one)[name] }) => of(row) ?? null),
    ),
    ...(finding && { finding }),
    ...(headline && { headline }),
    ...(notes && { notes: /** @type {string[]} */ (notes.filter(Boolean)) }),
  };
}

/**
 * A median with minimum and maximum.
 * @param {import('./spread.js').Spread | null | undefined} spread
 * @param {number} [unit] divides the values
 */
export const rangeOf = (spread, unit = 1) =>
  spread ? { value: spread.median / unit, low: spread.min / unit, high: spread.max / unit } : null;

/** A cell with the range of a figure over the turns of a row. @template T @param {(turn: T) => number | null} of */
export const overTurns =
  (of) =>
  (/** @type {{ turns: T[] }} */ { turns }) =>
    rangeOf(spreadOf(turns.map(of)));

/**
 * A cell with a figure of an operation, which the judge computes.
 * @param {string} operation
 * @param {import('k6/x/windtunnel/judge').FigureOf['figure']} figure
 * @param {string} [by] another operation: the quotient
 */
export const figureOf = (operation, figure, by) => ({ operation, figure, ...(by && { by }) });

/** A whole number with commas, as reports print it. @param {number} number */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');

/** Most names in a note. */
const NAMES_SHOWN = 10;

/** A note that lists names; no note without a name. @param {string} what @param {string[]} names */
export function named(what, names) {
  if (names.length === 0) return [];
  const more = names.length > NAMES_SHOWN ? `, and ${names.length - NAMES_SHOWN} more` : '';
  return [`${what}: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}`];
}
