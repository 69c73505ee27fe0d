/**
 * What the database did while the load ran: MySQL's and MariaDB's statement digests, before and after.
 * https://mariadb.com/kb/en/performance-schema-events_statements_summary_by_digest-table/
 *
 * | metric     | type  | unit                  | what                                           |
 * |------------|-------|-----------------------|------------------------------------------------|
 * | statements | gauge | count, ms, count      | all statements of the run, by `field`          |
 * | statement  | gauge | id, count, ms, count  | the largest by time, by `rank` and `field`     |
 */
import { Gauge } from 'k6/metrics';
import { messageOf, textOf, withDatabase } from './database.js';

const all = new Gauge('statements');
const each = new Gauge('statement');

const RANKS = 10;
const PICOSECONDS_PER_MS = 1e9;
/** Of a digest: as many as a number holds exactly, since only numbers reach handleSummary. */
const ID_DIGITS = 12;

/** @typedef {{ id: number, calls: number, ms: number, rows: number }} Digest */

const FIELDS = /** @type {const} */ (['calls', 'ms', 'rows']);

/** @type {Record<string, 'gauge'>} */
export const DIGEST_METRICS = Object.fromEntries([
  ...FIELDS.map((field) => [`statements{field:${field}}`, /** @type {const} */ ('gauge')]),
  ...Array.from({ length: RANKS }, (_, rank) =>
    ['id', ...FIELDS].map((field) => [
      `statement{rank:${rank},field:${field}}`,
      /** @type {const} */ ('gauge'),
    ]),
  ).flat(),
]);

/** Without what asks for them; with the one row of all statements that the table had no room for, whose digest is NULL. */
const OWN_STATEMENTS =
  "(SCHEMA_NAME = DATABASE() AND DIGEST_TEXT NOT LIKE '%performance_schema%') OR DIGEST IS NULL";
/** That row, as an id. */
const OVERFLOW = 0;
export const OVERFLOW_TEXT =
  '(statements of all databases that the digest table had no room for: raise performance_schema_digests_size)';
const TABLE = 'performance_schema.events_statements_summary_by_digest';

/** Integers only: the driver gives text and decimals as bytes. @param {import('./database.js').Connection} connection @returns {Digest[]} */
function readDigests(connection) {
  const rows = connection.query(
    `SELECT CAST(CONV(LEFT(DIGEST, ${ID_DIGITS}), 16, 10) AS UNSIGNED) AS id, COUNT_STAR AS calls,
       SUM_TIMER_WAIT AS picoseconds, SUM_ROWS_EXAMINED AS rows_examined
     FROM ${TABLE} WHERE ${OWN_STATEMENTS}`,
  );
  return rows.map((row) => ({
    id: Number(row.id ?? OVERFLOW),
    calls: Number(row.calls),
    ms: Number(row.picoseconds) / PICOSECONDS_PER_MS,
    rows: Number(row.rows_examined),
  }));
}

/**
 * In setup(), and in teardown() before anything else is sent to the database.
 * @param {import('./database-url.js').Database | null} database
 * @returns {Digest[] | null} null, and a line in the log, where there are none to be had
 */
export function takeDigests(database) {
  if (database?.dialect !== 'mysql') return null;
  try {
    return withDatabase(database, (connection) => {
      const [{ enabled }] = connection.query('SELECT @@performance_schema AS enabled');
      if (Number(enabled) === 1) return readDigests(connection);
      console.warn('panel: performance_schema is off: what the database did is not in the result');
      return null;
    });
  } catch (error) {
    console.warn(`panel: statement digests cannot be read: ${messageOf(error)}`);
    return null;
  }
}

/**
 * @param {Digest[]} before
 * @param {Digest[]} after
 * @returns {Digest[]} what came in between, the longest first
 */
export function difference(before, after) {
  return after
    .map((now) => {
      const then = before.find(({ id }) => id === now.id) ?? { calls: 0, ms: 0, rows: 0 };
      return { id: now.id, calls: now.calls - then.calls, ms: now.ms - then.ms, rows: now.rows - then.rows };
    })
    .filter(({ calls }) => calls > 0)
    .sort((a, b) => b.ms - a.ms);
}

/** In teardown(). @param {Digest[] | null} before @param {Digest[] | null} after */
export function keepDigests(before, after) {
  if (!before || !after) return;
  const between = difference(before, after);
  for (const field of FIELDS) {
    all.add(
      between.reduce((sum, digest) => sum + digest[field], 0),
      { field },
    );
  }
  for (const [index, digest] of between.slice(0, RANKS).entries()) {
    const rank = String(index);
    each.add(digest.id, { rank, field: 'id' });
    for (const field of FIELDS) each.add(digest[field], { rank, field });
  }
}

/** The statements' texts by id. @param {import('./database-url.js').Database} database @returns {Map<number, string>} */
function textsOf(database) {
  try {
    return withDatabase(database, (connection) => {
      const rows = connection.query(
        `SELECT CAST(CONV(LEFT(DIGEST, ${ID_DIGITS}), 16, 10) AS UNSIGNED) AS id, DIGEST_TEXT AS text
         FROM ${TABLE} WHERE ${OWN_STATEMENTS}`,
      );
      const known = rows.filter(({ id }) => Number(id) !== OVERFLOW);
      return new Map(known.map(({ id, text }) => [Number(id), textOf(text)]));
    });
  } catch {
    return new Map();
  }
}

/** @param {number} value */
const rounded = (value) => Math.round(value * 1e5) / 1e5;

/**
 * @typedef {{ requests: number, waitedMs: number, routeMs: number }} Load of the whole run, as the client saw it
 */

/**
 * In handleSummary.
 * @param {import('../result.js').Metrics} metrics
 * @param {import('./database-url.js').Database} database
 * @param {Load} load
 * @returns `database` of a result; undefined where there is none
 */
export function databaseOf(metrics, database, { requests, waitedMs, routeMs }) {
  const value = (/** @type {string} */ name) => metrics[name]?.values.value ?? 0;
  const [statements, totalMs, rowsExamined] = FIELDS.map((field) => value(`statements{field:${field}}`));
  if (statements === 0 || requests === 0) return undefined;
  const ranked = Array.from({ length: RANKS }, (_, rank) => {
    const of = (/** @type {string} */ field) => value(`statement{rank:${rank},field:${field}}`);
    return { id: of('id'), calls: of('calls'), ms: of('ms'), rows: of('rows') };
  }).filter(({ calls }) => calls > 0);
  const texts = textsOf(database);
  return {
    source: 'performance_schema',
    requests,
    statements,
    statements_per_request: rounded(statements / requests),
    total_ms: rounded(totalMs),
    mean_ms: rounded(totalMs / statements),
    rows_examined: rowsExamined,
    route_share: routeMs > 0 ? rounded(totalMs / routeMs) : null,
    latency_share: waitedMs > 0 ? rounded(totalMs / waitedMs) : null,
    digests: ranked.map(({ id, calls, ms, rows }) => ({
      text: id === OVERFLOW ? OVERFLOW_TEXT : (texts.get(id) ?? `digest ${id.toString(16)}…`),
      calls,
      total_ms: rounded(ms),
      mean_ms: rounded(ms / calls),
      rows_examined: rows,
      share: totalMs > 0 ? rounded(ms / totalMs) : 0,
    })),
  };
}
