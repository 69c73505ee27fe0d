/** Marzban's tables in real databases: the values that seeding must give, and the values that the tables refuse. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startMariadb, startSqlite } from '../support/database.js';

const SEED =
  'INSERT INTO users (username, status, used_traffic, data_limit_reset_strategy) VALUES (?, ?, 0, ?)';
const databases = [
  { name: 'MariaDB', ddl: 'tests/fixtures/marzban/mysql.sql', start: startMariadb, mysql: true },
  { name: 'SQLite', ddl: 'tests/fixtures/marzban/sqlite.sql', start: startSqlite, mysql: false },
];

for (const { name, ddl, start, mysql } of databases) {
  describe(`Marzban's tables on ${name}`, () => {
    /** @type {import('../support/database.js').Database} */
    let database;
    before(async () => {
      database = await start();
      await database.load(ddl);
      await database.query(SEED, ['anna', 'active', 'no_reset']);
      await database.query(
        "INSERT INTO proxies (user_id, type, settings) SELECT id, 'Shadowsocks', ? FROM users",
        [JSON.stringify({ password: 'p', method: 'chacha20-ietf-poly1305' })],
      );
    });
    after(() => database?.stop());

    test('a user and a proxy are kept, with the defaults of the rest', async () => {
      const [row] = await database.query(
        'SELECT u.username, u.expire, u.created_at, p.settings FROM users u JOIN proxies p ON p.user_id = u.id',
      );
      assert.deepEqual([row.username, row.expire], ['anna', null]);
      assert.ok(row.created_at);
      assert.equal(JSON.parse(row.settings).password, 'p');
    });

    test('a name is taken once', async () => {
      await assert.rejects(database.query(SEED, ['anna', 'active', 'no_reset']), /duplicate|unique/i);
      const other = database.query(SEED, ['ANNA', 'active', 'no_reset']);
      // Since its migration dd725e4d3628 Marzban distinguishes upper and lower case on MySQL.
      if (mysql) await other;
      else await assert.rejects(other, /unique/i);
    });

    test('a status is needed, and on MySQL one that there is', async () => {
      await assert.rejects(database.query(SEED, ['bert', null, 'no_reset']), /null/i);
      const unknown = database.query(SEED, ['bert', 'asleep', 'no_reset']);
      if (mysql) await assert.rejects(unknown, /truncated/i);
      else await unknown;
    });

    test('MySQL keeps a user who has a proxy; SQLite lets the proxy hang', async () => {
      const removed = database.query("DELETE FROM users WHERE username = 'anna'");
      if (mysql) await assert.rejects(removed, /foreign key/i);
      else await removed;
      const [{ hanging }] = await database.query(
        'SELECT COUNT(*) AS hanging FROM proxies WHERE user_id NOT IN (SELECT id FROM users)',
      );
      assert.equal(hanging, mysql ? 0 : 1);
    });
  });
}
