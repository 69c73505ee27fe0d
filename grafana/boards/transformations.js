/**
 * What Grafana does with answers before it draws them.
 * https://grafana.com/docs/grafana/latest/panels-visualizations/query-transform-data/transform-data/
 */

/** @typedef {import('@grafana/grafana-foundation-sdk/dashboard').DataTransformerConfig} Transformation */

/** @param {string} name */
const column = (name) => ({ matcher: { id: 'byName', options: name } });

/** @param {string} pattern of whole names, or a regular expression between slashes @returns {Transformation} */
export const withoutColumns = (pattern) => ({
  id: 'filterFieldsByName',
  options: { exclude: { pattern } },
});

/** @param {string} pattern @returns {Transformation} */
export const onlyColumns = (pattern) => ({ id: 'filterFieldsByName', options: { include: { pattern } } });

/**
 * Rows of several queries that have the same value in a column become one.
 * @param {string} name
 * @param {'outer' | 'inner'} [mode] inner: only of values that all queries have
 * @returns {Transformation}
 */
export const joinedBy = (name, mode = 'outer') => ({ id: 'joinByField', options: { byField: name, mode } });

/**
 * @param {string} alias
 * @param {string} left column
 * @param {'+' | '-' | '*' | '/'} operator
 * @param {string | number} right column, or a number
 * @returns {Transformation}
 */
export const calculated = (alias, left, operator, right) => ({
  id: 'calculateField',
  options: {
    alias,
    mode: 'binary',
    binary: {
      left: column(left),
      operator,
      right: typeof right === 'number' ? { fixed: String(right) } : column(right),
    },
    replaceFields: false,
    timeSeries: false,
  },
});

/**
 * A column with the number of each row, from 0. Without timeSeries: false Grafana would join the answers by their
 * times before it counts.
 * @param {string} alias
 * @returns {Transformation}
 */
export const numbered = (alias) => ({
  id: 'calculateField',
  options: { alias, mode: 'index', index: { asPercentile: false }, replaceFields: false, timeSeries: false },
});

/**
 * The rows with the highest values in a column, highest first.
 * @param {string} name column
 * @param {number} most
 * @returns {Transformation[]}
 */
export const highest = (name, most) => [
  { id: 'sortBy', options: { fields: {}, sort: [{ field: name, desc: true }] } },
  { id: 'limit', options: { limitField: most } },
];

/** @param {string[]} names */
export const inOrder = (names) => ({
  id: 'organize',
  options: {
    excludeByName: {},
    includeByName: {},
    indexByName: Object.fromEntries(names.map((name, index) => [name, index])),
    renameByName: {},
  },
});

/** @param {Record<string, string>} names @param {string} [refId] of the query that it is about @returns {Transformation} */
export const renamed = (names, refId) => ({
  id: 'organize',
  ...(refId ? { filter: { id: 'byRefId', options: refId } } : {}),
  options: { excludeByName: {}, includeByName: {}, indexByName: {}, renameByName: names },
});
