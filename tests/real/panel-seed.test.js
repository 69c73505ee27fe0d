/** lib/panel/seed.js in real databases: on Marzban's own tables, and with another panel's names. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startMariadb, startSqlite } from '../support/database.js';
import { K6, ROOT, cleanEnvironment, start, temporaryFolder } from '../support/k6.js';

const RUN = 'seed-test';
/** Users that take more than one INSERT statement. */
const COUNT = 1200;
const PREFIX = `ws_${createHash('sha256').update(RUN).digest('hex').slice(0, 12)}_user`;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const KEY = /^[0-9a-f]{32}$/;

const folder = temporaryFolder('seed');
after(folder.remove);
const script = join(folder.path, 'seed.js');
writeFileSync(
  script,
  `import { databaseAt } from '${ROOT}lib/panel/database-url.js';
   import { withDatabase } from '${ROOT}lib/panel/database.js';
   import { seed, unseed } from '${ROOT}lib/panel/seed.js';
   const protocols = ['shadowsocks', 'trojan', 'vmess', 'vless'];
   const database = databaseAt(__ENV.DATABASE, 'DATABASE');
   export function setup() {
     const tables = JSON.parse(__ENV.TABLES);
     withDatabase(database, (connection) => {
       if (__ENV.UNSEED !== '1') seed(connection, database.dialect, tables, { runId: '${RUN}', count: ${COUNT}, protocols });
       else console.log(JSON.stringify(unseed(connection, tables, '${RUN}')));
     });
   }
   export default () => {};`,
);

const { tables: TABLES } = JSON.parse(readFileSync(join(ROOT, 'lib/panel/dialects/marzban.json'), 'utf8'));

/** @param {import('../support/database.js').Database} database @param {Record<string, string>} [variables] */
async function run(database, variables = {}) {
  const env = {
    ...cleanEnvironment(),
    TABLES: JSON.stringify(TABLES),
    ...variables,
    DATABASE: database.url,
  };
  const k6 = start(K6, ['run', '--quiet', '--no-usage-report', '--address', '', script], { env });
  assert.equal(await k6.ended, 0, k6.output.stderr);
  return k6.output.stderr;
}

const OTHERS = [
  ['anna', 'hers'],
  // The first user has the name of a seeded user without its note; the second user has the note but another name.
  [`${PREFIX}9999999`, null],
  ['bert', `windtunnel ${RUN}`],
  // The wildcards of LIKE.
  [PREFIX.replaceAll('_', 'x'), `windtunnel ${RUN}`],
];

/** @param {import('../support/database.js').Database} database */
async function addOthers(database) {
  for (const [name, note] of OTHERS) {
    await database.query(
      "INSERT INTO users (username, status, used_traffic, data_limit_reset_strategy, note) VALUES (?, 'disabled', 7, 'month', ?)",
      [name, note],
    );
    await database.query(
      "INSERT INTO proxies (user_id, type, settings) SELECT id, 'Trojan', ? FROM users WHERE username = ?",
      ['{"password": "p", "flow": ""}', name],
    );
  }
}

/** All rows. @param {import('../support/database.js').Database} database */
const everything = async (database) => ({
  users: await database.query('SELECT * FROM users ORDER BY id'),
  proxies: await database.query('SELECT * FROM proxies ORDER BY id'),
  excluded: await database.query('SELECT * FROM exclude_inbounds_association'),
});

const databases = [
  { name: 'MariaDB', ddl: 'tests/fixtures/marzban/mysql.sql', open: startMariadb },
  { name: 'SQLite', ddl: 'tests/fixtures/marzban/sqlite.sql', open: startSqlite },
];

for (const { name, ddl, open } of databases) {
  describe(`seeding Marzban's tables on ${name}`, () => {
    /** @type {import('../support/database.js').Database} */
    let database;
    /** @type {Awaited<ReturnType<typeof everything>>} */
    let original;
    /** @type {Awaited<ReturnType<typeof everything>>} */
    let seeded;
    before(async () => {
      database = await open();
      await database.load(ddl);
      await addOthers(database);
      original = await everything(database);
      await run(database);
      seeded = await everything(database);
    });
    after(() => database?.stop());

    test('every user has what Marzban wants to find', () => {
      const users = seeded.users.slice(OTHERS.length);
      assert.equal(users.length, COUNT);
      for (const [index, user] of users.entries()) {
        const { id, created_at: created, last_status_change: changed, ...rest } = user;
        assert.ok(id && created && String(created) === String(changed), `${created}, ${changed}`);
        assert.deepEqual(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)), {
          username: `${PREFIX}${String(index).padStart(7, '0')}`,
          status: 'active',
          used_traffic: 0,
          data_limit_reset_strategy: 'no_reset',
          note: `windtunnel ${RUN}`,
        });
      }
    });

    test('each has one proxy of each protocol, with settings of its own', () => {
      const proxies = seeded.proxies.slice(OTHERS.length);
      assert.equal(proxies.length, 4 * COUNT);
      assert.equal(new Set(proxies.map((proxy) => `${proxy.user_id} ${proxy.type}`)).size, 4 * COUNT);
      const secrets = proxies.map(({ type, settings }) => {
        const { password, id, ...rest } = JSON.parse(settings);
        const [own, pattern, others] = /** @type {Record<string, [string, RegExp, object]>} */ ({
          Shadowsocks: [password, KEY, { method: 'chacha20-ietf-poly1305' }],
          Trojan: [password, KEY, { flow: '' }],
          VMess: [id, UUID, {}],
          VLESS: [id, UUID, { flow: '' }],
        })[type];
        assert.match(own, pattern);
        assert.deepEqual(rest, others);
        return own;
      });
      assert.equal(new Set(secrets).size, 4 * COUNT);
      assert.deepEqual(seeded.excluded, [], 'every inbound is theirs');
    });

    test('they are removed, and what others have stays as it was', async () => {
      assert.deepEqual(seeded.users.slice(0, OTHERS.length), original.users);
      assert.deepEqual(seeded.proxies.slice(0, OTHERS.length), original.proxies);
      const told = await run(database, { UNSEED: '1' });
      assert.ok(told.replaceAll('\\', '').includes(`{"removed":${COUNT},"left":0}`), told);
      assert.deepEqual(await everything(database), original);
    });

    test("another panel's names, even words of SQL, are used", async () => {
      for (const change of [
        'TABLE users RENAME COLUMN username TO login',
        'TABLE users RENAME COLUMN note TO `group`',
        'TABLE proxies RENAME COLUMN settings TO content',
        'TABLE users RENAME TO accounts',
        'TABLE proxies RENAME TO secrets',
      ])
        await database.query(`ALTER ${change}`);
      const own = JSON.stringify({
        users: { ...TABLES.users, name: 'accounts', username: 'login', note: 'group' },
        proxies: { ...TABLES.proxies, name: 'secrets', settings: 'content' },
      });
      const counts = async () =>
        (
          await database.query(
            `SELECT COUNT(*) AS users, (SELECT COUNT(content) FROM secrets) AS proxies FROM accounts`,
          )
        ).map((row) => [Number(row.users), Number(row.proxies)]);
      const [[users, proxies]] = await counts();
      await run(database, { TABLES: own });
      assert.deepEqual(await counts(), [[users + COUNT, proxies + 4 * COUNT]]);
      await run(database, { TABLES: own, UNSEED: '1' });
      assert.deepEqual(await counts(), [[users, proxies]]);
    });
  });
}
