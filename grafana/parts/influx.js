/**
 * InfluxQL for the boards: the data source, conditions of queries, and the two kinds of query.
 * Every variable names its format, so that Grafana inserts the same text at every position.
 * https://grafana.com/docs/grafana/latest/dashboards/variables/variable-syntax/#advanced-variable-format-options
 */

/** @typedef {import('@grafana/grafana-foundation-sdk/cog').Dataquery} Dataquery */

/** Defined in grafana/provisioning/datasources. */
export const DATASOURCE = { type: 'influxdb', uid: 'windtunnel-influx' };

/** Conditions for WHERE. */
export const RUN = '"testid" = ${testid:singlequote}';
const BASELINE = '"testid" = ${baseline:singlequote}';
export const SYSTEM = '"system" =~ /^${system:regex}$/';
export const SCENARIO = '"scenario" =~ /^${scenario:regex}$/';
export const OPERATION = '"operation" =~ /^${operation:regex}$/';

/** The user's choice for the run, and for the baseline. */
export const CHOSEN = [RUN, SYSTEM, SCENARIO, OPERATION];
export const CHOSEN_SCENARIOS = [RUN, SYSTEM, SCENARIO];
export const CHOSEN_OF_BASELINE = [BASELINE, SYSTEM, SCENARIO, OPERATION];

/** Rows of the chosen scenarios' tables. @param {string} names of the tables, as a regular expression */
export const ofSections = (names) => ({
  from: ['sections'],
  where: [...CHOSEN_SCENARIOS, `"section" =~ /^(${names})$/`],
});

/** Conditions for a history's series: one class of machine at a time. */
export const CLASS = '"class" = ${class:singlequote}';
const METRIC = '"metric" =~ /^${metric:regex}$/';
export const OF_TREND = [CLASS, SYSTEM, SCENARIO, OPERATION, METRIC];

/** An amount per second, for points with this field. */
export const aSecond = (/** @type {string} */ field) => `sum("${field}") * 1000 / $__interval_ms`;

/** Share of the requests that failed, of `operation_failed`. */
export const FAILED_SHARE = 'sum("hits") / sum("count")';

/** @param {string} name */
const quoted = (name) => `"${name}"`;

/**
 * @typedef {object} Query
 * @property {string} select
 * @property {string[]} from measurements; one that has no points yet is no error
 * @property {string[]} [where] the user's choice, unless given
 * @property {string[]} [by] tags
 *
 * @param {Query & { fill?: 'null' | 'none' | '0' }} query
 * @returns {string} a figure for each interval of the board's time
 */
export const overTime = ({ select, from, where = CHOSEN, by = [], fill = 'null' }) =>
  `SELECT ${select} FROM ${from.map(quoted).join(', ')} WHERE ${[...where, '$timeFilter'].join(' AND ')} ` +
  `GROUP BY ${['time($__interval)', ...by.map(quoted)].join(', ')} fill(${fill})`;

/** @param {Query} query @returns {string} one figure for the board's time */
export const overall = ({ where = CHOSEN, ...query }) =>
  points({ ...query, where: [...where, '$timeFilter'] });

/**
 * Whole-run figures, which are written once, and other points without regard to their time: testid selects
 * the run.
 * @param {Query & { order?: string }} query
 */
export const points = ({ select, from, where = CHOSEN, by = [], order = '' }) =>
  `SELECT ${select} FROM ${from.map(quoted).join(', ')} WHERE ${where.join(' AND ')}` +
  (by.length > 0 ? ` GROUP BY ${by.map(quoted).join(', ')}` : '') +
  (order ? ` ${order}` : '');

/** @typedef {{ build: () => Dataquery }} Target */

/**
 * A query of a panel, as Grafana's InfluxDB data source takes it.
 * @param {string} refId @param {string} query @param {{ resultFormat: 'time_series' | 'table', alias?: string }} format @returns {Target}
 */
const target = (refId, query, format) => ({
  build: () => /** @type {any} */ ({ refId, datasource: DATASOURCE, query, rawQuery: true, ...format }),
});

/**
 * @param {string} refId
 * @param {string} query
 * @param {string} alias with $col, $m and $tag_NAME
 * @returns {Target}
 */
export const series = (refId, query, alias) => target(refId, query, { resultFormat: 'time_series', alias });

/** Columns named as in SELECT, and Time. @param {string} refId @param {string} query @returns {Target} */
export const rows = (refId, query) => target(refId, query, { resultFormat: 'table' });

/**
 * The first query of a panel: series if they have an alias, otherwise the rows of a table.
 * @param {Query & { alias?: string, fill?: 'null' | 'none' | '0', order?: string, ask?: (query: Query) => string }} query
 * ask is overTime for series and points for rows, unless given
 */
export const first = ({ alias, ask, ...query }) =>
  alias === undefined ? rows('A', (ask ?? points)(query)) : series('A', (ask ?? overTime)(query), alias);
