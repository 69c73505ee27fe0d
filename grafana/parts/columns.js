/** Columns of a table: their order, titles, widths and looks. */
import { TableCellDisplayMode } from '@grafana/grafana-foundation-sdk/common';

/** @typedef {import('@grafana/grafana-foundation-sdk/dashboard').DynamicConfigValue} Property */

/**
 * @typedef {object} Column
 * @property {string} name as the query or a transformation calls it
 * @property {string} [of] field, if it has another name
 * @property {string} [title] in place of the name
 * @property {number} [width] in pixels; columns without one share what is left
 * @property {boolean} [fitted] as wide as its title, which its values are not wider than
 * @property {string} [unit]
 * @property {number} [decimals]
 * @property {import('@grafana/grafana-foundation-sdk/dashboard').ValueMapping[]} [colours] values by texts in colours
 * @property {import('@grafana/grafana-foundation-sdk/dashboard').ValueMapping[]} [texts] values by texts
 * @property {{ title: string, url: string, targetBlank: boolean }[]} [links]
 * @property {boolean} [long] an eye in the cell opens its whole text
 * @property {boolean} [hidden] it is there for links
 */

/** Pixels of a title: a letter, and the cell's edges with the arrow of a column that is sorted by. */
const [LETTER, EDGES] = [8, 32];
const LEAST = 75;

/** The least width that shows a title, in pixels. @param {string} title */
export const widthOf = (title) => Math.max(LEAST, title.length * LETTER + EDGES);

/** Columns for SELECT; the time is always there. @param {Column[]} columns */
export const selected = (columns) =>
  columns
    .filter(({ name }) => name !== 'Time')
    .map(({ name, of }) => (of ? `"${of}" AS "${name}"` : `"${name}"`))
    .join(', ');

/** @param {Column} column @returns {Property[]} */
const propertiesOf = ({ name, title, width, fitted, colours, ...column }) => {
  const pixels = width ?? (fitted ? widthOf(title ?? name) : undefined);
  /** @type {[string, unknown][]} */
  const found = [
    ['displayName', title],
    ['custom.width', pixels],
    ['unit', column.unit],
    ['decimals', column.decimals],
    ['mappings', colours ?? column.texts],
    ['custom.cellOptions', colours && { type: TableCellDisplayMode.ColorText }],
    ['links', column.links],
    ['custom.inspect', column.long],
    ['custom.hidden', column.hidden],
  ];
  return found.flatMap(([id, value]) => (value === undefined ? [] : [{ id, value }]));
};

/** Text of a cell without a value: the panel's own text is for a table without rows. */
const EMPTY_CELL = {
  matcher: { id: 'byRegexp', options: '/.*/' },
  properties: [{ id: 'noValue', value: '–' }],
};

/** @param {Column[]} columns */
export const overridesOf = (columns) => [
  EMPTY_CELL,
  ...columns.flatMap((column) => {
    const properties = propertiesOf(column);
    return properties.length > 0 ? [{ matcher: { id: 'byName', options: column.name }, properties }] : [];
  }),
];
