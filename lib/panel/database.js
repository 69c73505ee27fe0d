/** SQL access to the panel's database through xk6-sql (https://github.com/grafana/xk6-sql). */
import sql from 'k6/x/sql';
import mysql from 'k6/x/sql/driver/mysql';
import sqlite from 'k6/x/sql/driver/sqlite3';

/** @typedef {import('./database-url.js').Database} Database */
/** @typedef {{ exec: (query: string, ...values: unknown[]) => { rowsAffected: () => number }, query: (query: string, ...values: unknown[]) => Record<string, any>[], close: () => void }} Connection */

/**
 * Opens the database for the call of `use`, and closes it.
 * @template T
 * @param {Database} database
 * @param {(connection: Connection) => T} use
 * @returns {T} what `use` returns
 */
export function withDatabase({ dialect, dsn }, use) {
  // A transaction needs one connection for all of its statements.
  const options = { maxOpenConns: 1 };
  const connection = /** @type {Connection} */ (sql.open(dialect === 'mysql' ? mysql : sqlite, dsn, options));
  try {
    return use(connection);
  } finally {
    connection.close();
  }
}

/**
 * All statements of `work`, or, if one fails or the process ends, none of them.
 * @template T
 * @param {Connection} connection
 * @param {() => T} work
 * @returns {T} what `work` returns
 */
export function inTransaction(connection, work) {
  connection.exec('BEGIN');
  try {
    const result = work();
    connection.exec('COMMIT');
    return result;
  } catch (error) {
    connection.exec('ROLLBACK');
    throw error;
  }
}

/** The first value of the first row. @param {Connection} connection @param {string} query @param {...unknown} values @returns {number} */
export function numberOf(connection, query, ...values) {
  return Number(Object.values(connection.query(query, ...values)[0])[0] ?? 0);
}

/** A table or a column, which may be a word of SQL. MySQL and SQLite both take backticks. @param {string} name */
export const quoted = (name) => `\`${name}\``;

/** Condition with two values: a prefix's pattern, and a note. @param {{ name: string, username: string, note: string }} users */
export const isOfRun = ({ name, username, note }) =>
  `${quoted(name)}.${quoted(username)} LIKE ? ESCAPE '!' AND ${quoted(name)}.${quoted(note)} = ?`;

/** Pattern for LIKE … ESCAPE '!' that matches texts with this prefix. @param {string} text */
export const beginsWith = (text) => `${text.replace(/[!%_]/g, '!$&')}%`;

/** The first line of an error that a statement threw. @param {unknown} error */
export const messageOf = (error) => String(/** @type {any} */ (error)?.message ?? error).split('\n')[0];

/** A text column's value: go-sql-driver/mysql returns bytes. @param {unknown} value */
export const textOf = (value) =>
  typeof value === 'string' ? value : String.fromCharCode(.../** @type {number[]} */ (value));
