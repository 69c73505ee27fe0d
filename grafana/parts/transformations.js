/**
 * Grafana's changes to answers before it draws them.
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

/** Series become rows of a name and the highest value, in the columns `Field` and `Max`. @type {Transformation} */
const highestOfSeries = {
  id: 'reduce',
  options: { reducers: ['max'], mode: 'seriesToRows', includeTimeField: false, labelsToFields: false },
};

/** Rows become fields, named by the values of the first column. @type {Transformation} */
const fieldsOfRows = { id: 'transpose', options: {} };

/** The series with the highest values, each a field. @param {number} most @returns {Transformation[]} */
export const highestSeries = (most) => [highestOfSeries, ...highest('Max', most), fieldsOfRows];

/** The number of series with each value: a field for each value, named by the value. @returns {Transformation[]} */
export const countedByValue = () => [
  highestOfSeries,
  {
    id: 'groupBy',
    options: {
      fields: {
        Max: { operation: 'groupby', aggregations: [] },
        Field: { operation: 'aggregate', aggregations: ['count'] },
      },
    },
  },
  // Only texts become names.
  {
    id: 'convertFieldType',
    options: { fields: {}, conversions: [{ targetField: 'Max', destinationType: 'string' }] },
  },
  fieldsOfRows,
];

/** The panel is red from the value that a query returns. @param {string} refId @param {string} name @returns {Transformation} */
export const redFrom = (refId, name) => ({
  id: 'configFromData',
  options: {
    configRefId: refId,
    mappings: [
      {
        fieldName: name,
        handlerKey: 'threshold1',
        reducerId: 'lastNotNull',
        handlerArguments: { threshold: { color: 'red' } },
      },
    ],
  },
});

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
