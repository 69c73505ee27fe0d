/**
 * What the database did while the load ran: MySQL's and MariaDB's statement digests, before and after.
 * https://mariadb.com/kb/en/performance-schema-events_statements_summary_by_digest-table/
 */
import { said, say } from 'k6/x/windtunnel/record';
import { messageOf, textOf, withDatabase } from './database.js';

const RANKS = 10;
const PICOSECONDS_PER_MS = 1e9;
/** What was said of them. */
const SAID = 'digests';

/**
 * @typedef {{ id: string | null, calls: number, ms: number, rows: number, text?: string }} Digest `id` is the statement's own;
 *   null: all that the table had no room for. `text` where it was asked for
 * @typedef {{ calls: number, ms: number, rows: number, largest: Digest[] }} Between two readings: all statements, and those
 *   that took most time
 */

/** Without what asks for them; with the one row of all statements that the table had no room for, whose digest is NULL. */
const OWN_STATEMENTS =
  "(SCHEMA_NAME = DATABASE() AND DIGEST_TEXT NOT LIKE '%performance_schema%') OR DIGEST IS NULL";
export const OVERFLOW_TEXT =
  '(statements of all databases that the digest table had no room for: raise performance_schema_digests_size)';
const TABLE = 'performance_schema.events_statements_summary_by_digest';

/** Integers only: the driver gives text and decimals as bytes. @param {import('./database.js').Connection} connection @param {boolean} texts @returns {Digest[]} */
function readDigests(connection, texts) {
  const rows = connection.query(
    `SELECT DIGEST AS id, ${texts ? 'DIGEST_TEXT' : 'NULL'} AS text, COUNT_STAR AS calls,
       SUM_TIMER_WAIT AS picoseconds, SUM_ROWS_EXAMINED AS rows_examined
     FROM ${TABLE} WHERE ${OWN_STATEMENTS}`,
  );
  return rows.map((row) => ({
    id: row.id === null ? null : textOf(row.id),
    calls: Number(row.calls),
    ms: Number(row.picoseconds) / PICOSECONDS_PER_MS,
    rows: Number(row.rows_examined),
    ...(row.text === null ? {} : { text: textOf(row.text) }),
  }));
}

/**
 * In setup(), and in teardown() before anything else is sent to the database.
 * @param {import('./database-url.js').Database | null} database
 * @param {boolean} [texts] of the statements, too
 * @returns {Digest[] | null} null, and a line in the log, where there are none to be had
 */
export function takeDigests(database, texts = false) {
  if (database?.dialect !== 'mysql') return null;
  try {
    return withDatabase(database, (connection) => {
      const [{ enabled }] = connection.query('SELECT @@performance_schema AS enabled');
      if (Number(enabled) === 1) return readDigests(connection, texts);
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
      return { ...now, calls: now.calls - then.calls, ms: now.ms - then.ms, rows: now.rows - then.rows };
    })
    .filter(({ calls }) => calls > 0)
    .sort((a, b) => b.ms - a.ms);
}

/** In teardown(). @param {Digest[] | null} before @param {Digest[] | null} after with the texts */
export function keepDigests(before, after) {
  if (!before || !after) return;
  const between = difference(before, after);
  const sum = (/** @type {'calls' | 'ms' | 'rows'} */ field) =>
    between.reduce((total, digest) => total + digest[field], 0);
  /** @type {Between} */
  const found = { calls: sum('calls'), ms: sum('ms'), rows: sum('rows'), largest: between.slice(0, RANKS) };
  say(SAID, found);
}

/** @param {number} value */
const rounded = (value) => Math.round(value * 1e5) / 1e5;

/**
 * @typedef {{ requests: number, waitedMs: number, routeMs: number }} Load of the whole run, as the client saw it
 */

/**
 * In handleSummary.
 * @param {Load} load
 * @returns undefined where there is none
 */
export function databaseOf({ requests, waitedMs, routeMs }) {
  const found = /** @type {Between | undefined} */ (said()[SAID]);
  if (!found || found.calls === 0 || requests === 0) return undefined;
  const { calls: statements, ms: totalMs, rows: rowsExamined, largest } = found;
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
    digests: largest.map(({ id, text, calls, ms, rows }) => ({
      text: id === null ? OVERFLOW_TEXT : (text ?? `digest ${id}`),
      calls,
      total_ms: rounded(ms),
      mean_ms: rounded(ms / calls),
      rows_examined: rows,
      share: totalMs > 0 ? rounded(ms / totalMs) : 0,
    })),
  };
}
