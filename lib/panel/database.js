/**
 * The panel's database, by SQL: xk6-sql (https://github.com/grafana/xk6-sql). Tables and
 * columns are Marzban's; the reference panel has the same.
 */
import sql from 'k6/x/sql';
import mysql from 'k6/x/sql/driver/mysql';
import sqlite from 'k6/x/sql/driver/sqlite3';

/** @typedef {import('./database-url.js').Database} Database */
/** @typedef {{ exec: (query: string, ...values: unknown[]) => { rowsAffected: () => number }, query: (query: string, ...values: unknown[]) => Record<string, any>[], close: () => void }} Connection */

/**
 * Opens the database, for a few statements, and closes it.
 * @template T
 * @param {Database} database
 * @param {(connection: Connection) => T} use
 * @returns {T} what `use` returns; what it throws, too
 */
export function withDatabase({ dialect, dsn }, use) {
  const connection = /** @type {Connection} */ (sql.open(dialect === 'mysql' ? mysql : sqlite, dsn));
  try {
    return use(connection);
  } finally {
    connection.close();
  }
}

/** The first value of the first row. @param {Connection} connection @param {string} query @param {...unknown} values @returns {number} */
export function numberOf(connection, query, ...values) {
  return Number(Object.values(connection.query(query, ...values)[0])[0] ?? 0);
}

/** For LIKE … ESCAPE '!': what begins with this text, in which _ is no wildcard. @param {string} text */
export const beginsWith = (text) => `${text.replace(/[!%_]/g, '!$&')}%`;

/** The message of what a statement threw. @param {unknown} error */
export const messageOf = (error) => String(/** @type {any} */ (error)?.message ?? error).split('\n')[0];

/** Text of a row: go-sql-driver/mysql gives bytes. @param {unknown} value */
export const textOf = (value) =>
  typeof value === 'string' ? value : String.fromCharCode(.../** @type {number[]} */ (value));
