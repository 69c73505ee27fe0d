/**
 * The database's work during the load: statement digests of MySQL and MariaDB, before and after.
 * https://mariadb.com/kb/en/performance-schema-events_statements_summary_by_digest-table/
 */
import { said, say } from 'k6/x/windtunnel/record';
import { messageOf, textOf, withDatabase } from './database.js';
import { rounded } from './components.js';

const RANKS = 10;
const PICOSECONDS_PER_MS = 1e9;
/** Name of the note with the digests. */
const DIGESTS_NOTE = 'digests';

/**
 * @typedef {{ id: string | null, calls: number, ms: number, rows: number, text?: string }} Digest `id` of the statement;
 *   null: all statements that did not fit into the digest table. `text` only if requested
 * @typedef {{ calls: number, ms: number, rows: number, largest: Digest[] }} Between totals between two readings, and the
 *   statements with the largest total time
 */

/** Excludes the queries of this module. Includes the row of statements that did not fit into the table (DIGEST IS NULL). */
const CONDITION =
  "(SCHEMA_NAME = DATABASE() AND DIGEST_TEXT NOT LIKE '%performance_schema%') OR DIGEST IS NULL";
export const OVERFLOW_TEXT =
  '(statements of all databases that the digest table had no room for: raise performance_schema_digests_size)';
const TABLE = 'performance_schema.events_statements_summary_by_digest';

/** Selects integers: the driver returns texts and decimals as bytes. @param {import('./database.js').Connection} connection @param {boolean} texts @returns {Digest[]} */
function readDigests(connection, texts) {
  const rows = connection.query(
    `SELECT DIGEST AS id, ${texts ? 'DIGEST_TEXT' : 'NULL'} AS text, COUNT_STAR AS calls,
       SUM_TIMER_WAIT AS picoseconds, SUM_ROWS_EXAMINED AS rows_examined
     FROM ${TABLE} WHERE ${CONDITION}`,
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
 * In setup(), and in teardown() before any other statement.
 * @param {import('./database-url.js').Database | null} database
 * @param {boolean} [texts] whether to read the statements' texts
 * @returns {Digest[] | null} null, with a warning in the log, if there are no digests
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
 * @returns {Digest[]} differences, the longest total time first
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
  say(DIGESTS_NOTE, found);
}

/**
 * @typedef {{ requests: number, waitedMs: number, routeMs: number }} Load of the whole run, as the clients saw it
 */

/**
 * In handleSummary: the database's work.
 * @param {Load} load
 * @returns undefined without digests
 */
export function databaseOf({ requests, waitedMs, routeMs }) {
  const found = /** @type {Between | undefined} */ (said()[DIGESTS_NOTE]);
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
