/**
 * Seeds users directly into the database before the load (variable EXISTING).
 * Tables: https://github.com/Gozargah/Marzban app/db/models.py: users, proxies. A proxy without a row in
 * exclude_inbounds_association uses every inbound.
 */
import { beginsWith, inTransaction, messageOf, numberOf } from './database.js';
import { noteOf, seedPrefix, userName } from './users.js';

/** @typedef {import('./database.js').Connection} Connection */

const BATCH = 1000;

/** SQL for random proxy settings in each dialect. */
const SETTINGS = {
  mysql: {
    key: 'MD5(CONCAT(users.username, RAND()))',
    uuid: 'UUID()',
    join: (/** @type {string[]} */ parts) => `CONCAT(${parts.join(', ')})`,
  },
  sqlite: {
    key: 'lower(hex(randomblob(16)))',
    uuid: "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))",
    join: (/** @type {string[]} */ parts) => parts.join(' || '),
  },
};

/** By the protocol's name in the API: its type in Marzban's table, and the JSON of its settings. */
const PROXIES =
  /** @type {Record<string, { type: string, before: string, value: 'key' | 'uuid', after: string }>} */ ({
    shadowsocks: {
      type: 'Shadowsocks',
      before: '{"password": "',
      value: 'key',
      after: '", "method": "chacha20-ietf-poly1305"}',
    },
    trojan: { type: 'Trojan', before: '{"password": "', value: 'key', after: '", "flow": ""}' },
    vmess: { type: 'VMess', before: '{"id": "', value: 'uuid', after: '"}' },
    vless: { type: 'VLESS', before: '{"id": "', value: 'uuid', after: '", "flow": ""}' },
  });

/** Protocols that seeded users may have. */
export const SEEDABLE = Object.keys(PROXIES);

/** Columns that seeding fills, by their table. */
const COLUMNS = {
  users: [
    'username',
    'status',
    'used_traffic',
    'data_limit_reset_strategy',
    'created_at',
    'last_status_change',
    'note',
  ],
  proxies: ['user_id', 'type', 'settings'],
};

/** The part of a table that the database lacks, in the database's words; '' if it lacks nothing. @param {Connection} connection @param {keyof typeof COLUMNS} table */
function lackOf(connection, table) {
  try {
    connection.query(`SELECT ${COLUMNS[table].join(', ')} FROM ${table} LIMIT 0`);
    return '';
  } catch (error) {
    return messageOf(error);
  }
}

/** @param {unknown[]} values @param {string} [each] */
const placeholders = (values, each = '?') => values.map(() => each).join(', ');

/**
 * Inserts users with their proxies in batches: Marzban cannot list its users while a user has no proxy. Throws before the first
 * INSERT if the database lacks a table or a column. All users are inserted, or no user.
 * @param {Connection} connection
 * @param {'mysql' | 'sqlite'} dialect
 * @param {{ runId: string, count: number, protocols: string[] }} users each gets a proxy of each protocol
 */
export function seed(connection, dialect, { runId, count, protocols }) {
  connection.query('SELECT 1');
  const lack = lackOf(connection, 'users') || lackOf(connection, 'proxies');
  if (lack)
    throw new Error(`${lack}: only Marzban's tables users and proxies can be seeded; nothing was inserted`);
  const prefix = seedPrefix(runId);
  const moment = new Date().toISOString().slice(0, 19).replace('T', ' ');
  inTransaction(connection, () => {
    for (let from = 0; from < count; from += BATCH) {
      const names = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) =>
        userName(prefix, 'user', from + index),
      );
      insert(connection, dialect, { names, note: noteOf(runId), moment, protocols });
    }
  });
}

/**
 * One batch.
 * @param {Connection} connection
 * @param {'mysql' | 'sqlite'} dialect
 * @param {{ names: string[], note: string, moment: string, protocols: string[] }} users moment: as SQL has it, UTC
 */
function insert(connection, dialect, { names, note, moment, protocols }) {
  const { join, ...random } = SETTINGS[dialect];
  connection.exec(
    `INSERT INTO users (${COLUMNS.users.join(', ')})
     VALUES ${placeholders(names, "(?, 'active', 0, 'no_reset', ?, ?, ?)")}`,
    ...names.flatMap((name) => [name, moment, moment, note]),
  );
  for (const protocol of protocols) {
    const { type, before, value, after } = PROXIES[protocol];
    const settings = join([`'${before}'`, random[value], `'${after}'`]);
    connection.exec(
      `INSERT INTO proxies (${COLUMNS.proxies.join(', ')})
       SELECT users.id, '${type}', ${settings} FROM users WHERE username IN (${placeholders(names)})`,
      ...names,
    );
  }
}

/**
 * Removes the seeded users of a run, in batches. A database without the tables has none: seeding refuses such a database.
 * @param {Connection} connection
 * @param {string} runId
 * @returns {{ removed: number, left: number }} numbers of users
 */
export function unseed(connection, runId) {
  connection.query('SELECT 1'); // throws if the database cannot be reached, which says nothing about its tables
  if (lackOf(connection, 'users')) return { removed: 0, left: 0 };
  const withProxies = !lackOf(connection, 'proxies');
  const mark = [beginsWith(seedPrefix(runId)), noteOf(runId)];
  const those = "FROM users WHERE username LIKE ? ESCAPE '!' AND note = ?";
  let removed = 0;
  for (;;) {
    const ids = connection
      .query(`SELECT id ${those} ORDER BY id LIMIT ${BATCH}`, ...mark)
      .map(({ id }) => id);
    if (ids.length === 0) break;
    if (withProxies) connection.exec(`DELETE FROM proxies WHERE user_id IN (${placeholders(ids)})`, ...ids);
    const gone = connection
      .exec(`DELETE FROM users WHERE id IN (${placeholders(ids)})`, ...ids)
      .rowsAffected();
    if (gone === 0) break;
    removed += gone;
  }
  return { removed, left: numberOf(connection, `SELECT COUNT(*) ${those}`, ...mark) };
}
