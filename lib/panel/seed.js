/** Seeds users directly into the database before the load (variable EXISTING). The dialect says which tables and columns. */
import { beginsWith, inTransaction, isOfRun, messageOf, numberOf, quoted } from './database.js';
import { filled } from './dialect.js';
import { noteOf, seedPrefix, userName } from './users.js';

/** @typedef {import('./database.js').Connection} Connection */
/** @typedef {import('./dialect.js').Tables} Tables */

/** SQLite takes 32,766 values in a statement. */
const BATCH = 500;

/** SQL of random values, and of a text of parts, by the kind of database. */
const SETTINGS = {
  mysql: {
    key: 'MD5(CONCAT(UUID(), RAND()))',
    uuid: 'UUID()',
    join: (/** @type {string[]} */ parts) => `CONCAT(${parts.join(', ')})`,
  },
  sqlite: {
    key: 'lower(hex(randomblob(16)))',
    uuid: "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))",
    join: (/** @type {string[]} */ parts) => parts.join(' || '),
  },
};

/** @param {string[]} names */
const listed = (names) => names.map(quoted).join(', ');

/** @param {unknown[]} values */
const placeholders = (values) => values.map(() => '?').join(', ');

/** Columns that seeding fills. */
const columnsOf = {
  users: (/** @type {Tables} */ { users: { username, note, status, row } }) => [
    username,
    note,
    status.column,
    ...Object.keys(row),
  ],
  proxies: (/** @type {Tables} */ { proxies: { user, type, settings } }) => [user, type, settings],
};

/** The part of a table that the database lacks, in the database's words; '' if it lacks nothing. @param {Connection} connection @param {Tables} tables @param {'users' | 'proxies'} table */
function lackOf(connection, tables, table) {
  try {
    connection.query(`SELECT ${listed(columnsOf[table](tables))} FROM ${quoted(tables[table].name)} LIMIT 0`);
    return '';
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Inserts users with their proxies in batches: Marzban cannot list its users while a user has no proxy. Throws before the first
 * INSERT if the database lacks a table or a column. All users are inserted, or no user.
 * @param {Connection} connection
 * @param {'mysql' | 'sqlite'} kind of the database
 * @param {Tables} tables
 * @param {{ runId: string, count: number, protocols: string[] }} users each gets a proxy of each protocol
 */
export function seed(connection, kind, tables, { runId, count, protocols }) {
  connection.query('SELECT 1');
  const lack = lackOf(connection, tables, 'users') || lackOf(connection, tables, 'proxies');
  if (lack) throw new Error(`${lack}: the dialect's tables are not in this database; nothing was inserted`);
  const prefix = seedPrefix(runId);
  inTransaction(connection, () => {
    const insert = inserter(connection, kind, tables, noteOf(runId), protocols);
    for (let from = 0; from < count; from += BATCH) {
      const length = Math.min(BATCH, count - from);
      insert(Array.from({ length }, (_, index) => userName(prefix, 'user', from + index)));
    }
  });
}

/** @param {Connection} connection @param {'mysql' | 'sqlite'} kind @param {Tables} tables @param {string} note @param {string[]} protocols */
function inserter(connection, kind, tables, note, protocols) {
  const { users, proxies } = tables;
  const now = new Date().toISOString().slice(0, 19).replace('T', ' ');
  const same = [note, users.status.active, ...Object.values(filled(users.row, { now }))];
  const row = `(${placeholders(['', ...same])})`;
  const kinds = protocols.map((protocol) => {
    const { type, settings } = proxies.protocols[protocol];
    return { type, text: randomText(settings, kind) };
  });
  return (/** @type {string[]} */ names) => {
    connection.exec(
      `INSERT INTO ${quoted(users.name)} (${listed(columnsOf.users(tables))}) VALUES ${names.map(() => row).join(', ')}`,
      ...names.flatMap((name) => [name, ...same]),
    );
    for (const { type, text } of kinds) {
      connection.exec(
        `INSERT INTO ${quoted(proxies.name)} (${listed(columnsOf.proxies(tables))})
         SELECT ${quoted(users.id)}, ?, ${text.sql} FROM ${quoted(users.name)} WHERE ${quoted(users.username)} IN (${placeholders(names)})`,
        type,
        ...text.values,
        ...names,
      );
    }
  };
}

/** SQL of a JSON text in which {key} and {uuid} are random in each row. @param {object} settings @param {'mysql' | 'sqlite'} kind */
function randomText(settings, kind) {
  const { join, ...random } = SETTINGS[kind];
  // Texts, and between each two of them the name of a random value.
  const parts = JSON.stringify(settings).split(/\{(key|uuid)\}/);
  return {
    sql: join(parts.map((part, index) => (index % 2 === 0 ? '?' : random[/** @type {'key'} */ (part)]))),
    values: parts.filter((_, index) => index % 2 === 0),
  };
}

/**
 * Removes the seeded users of a run, in batches. A database without the tables has none: seeding refuses such a database.
 * @param {Connection} connection
 * @param {Tables} tables
 * @param {string} runId
 * @returns {{ removed: number, left: number }} numbers of users
 */
export function unseed(connection, tables, runId) {
  connection.query('SELECT 1'); // throws if the database cannot be reached, which says nothing about its tables
  if (lackOf(connection, tables, 'users')) return { removed: 0, left: 0 };
  const withProxies = !lackOf(connection, tables, 'proxies');
  const [users, proxies, id] = [tables.users.name, tables.proxies.name, tables.users.id].map(quoted);
  const mark = [beginsWith(seedPrefix(runId)), noteOf(runId)];
  const those = `FROM ${users} WHERE ${isOfRun(tables.users)}`;
  let removed = 0;
  for (;;) {
    const ids = connection
      .query(`SELECT ${id} AS id ${those} ORDER BY id LIMIT ${BATCH}`, ...mark)
      .map((row) => row.id);
    if (ids.length === 0) break;
    const among = `IN (${placeholders(ids)})`;
    if (withProxies)
      connection.exec(`DELETE FROM ${proxies} WHERE ${quoted(tables.proxies.user)} ${among}`, ...ids);
    const gone = connection.exec(`DELETE FROM ${users} WHERE ${id} ${among}`, ...ids).rowsAffected();
    if (gone === 0) break;
    removed += gone;
  }
  return { removed, left: numberOf(connection, `SELECT COUNT(*) ${those}`, ...mark) };
}
