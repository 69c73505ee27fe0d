/** Seeding by the tables of a dialect: which statements reach the database, and which users are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDialect } from '../../lib/panel/dialect.js';
import { checkExisting } from '../../lib/panel/existing.js';
import { seed, unseed } from '../../lib/panel/seed.js';

const marzban = readDialect('marzban');
/** Tables with other words than Marzban's. @type {import('../../lib/panel/dialect.js').Tables} */
const OTHERS = {
  users: {
    name: 'accounts',
    id: 'number',
    username: 'login',
    note: 'remark',
    status: { column: 'enabled', active: true, disabled: false },
    row: { group: 7, since: '{now}' },
  },
  proxies: {
    name: 'secrets',
    user: 'account',
    type: 'kind',
    settings: 'content',
    protocols: { vless: { type: 3, settings: { secret: '{uuid}', also: ['{key}'] } } },
  },
};

/** A database that keeps the statements. It has every column, except for the lacking one. @param {string} [lacking] */
function databaseThatLacks(lacking) {
  /** @type {{ sql: string, values: unknown[] }[]} */
  const executed = [];
  let left = 3;
  return {
    executed,
    query(/** @type {string} */ sql) {
      if (lacking && sql.includes(`\`${lacking}\``)) throw new Error(`no such column: ${lacking}`);
      if (/^SELECT COUNT/.test(sql)) return [{ count: left }];
      return / LIMIT [1-9]/.test(sql) ? Array.from({ length: left }, (_, index) => ({ id: index + 1 })) : [];
    },
    exec(/** @type {string} */ sql, /** @type {unknown[]} */ ...values) {
      executed.push({ sql: sql.replace(/\s+/g, ' '), values });
      if (/^DELETE FROM `accounts`/.test(sql)) left = 0;
      return { rowsAffected: () => values.length };
    },
    close() {},
  };
}

test("the dialect's tables, columns and values are used, and no others", () => {
  const database = databaseThatLacks();
  seed(database, 'sqlite', OTHERS, { runId: 'r', count: 2, protocols: ['vless'] });
  const [begin, users, proxies, commit] = database.executed;
  assert.deepEqual([begin.sql, commit.sql, database.executed.length], ['BEGIN', 'COMMIT', 4]);
  assert.equal(
    users.sql,
    'INSERT INTO `accounts` (`login`, `remark`, `enabled`, `group`, `since`) VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?)',
  );
  const [name, note, enabled, group, since, second] = users.values;
  assert.match(String(name), /^ws_[0-9a-f]{12}_user0000000$/);
  assert.match(String(second), /^ws_[0-9a-f]{12}_user0000001$/);
  assert.match(String(since), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.deepEqual([note, enabled, group], ['windtunnel r', true, 7]);
  assert.match(
    proxies.sql,
    /^INSERT INTO `secrets` \(`account`, `kind`, `content`\) SELECT `number`, \?, \? \|\| .+ \|\| \? \|\| .+ \|\| \? FROM `accounts` WHERE `login` IN \(\?, \?\)$/,
  );
  assert.deepEqual(proxies.values, [3, '{"secret":"', '","also":["', '"]}', name, second]);
});

test('seeded users are removed from the same tables', () => {
  const database = databaseThatLacks();
  assert.deepEqual(unseed(database, OTHERS, 'r'), { removed: 3, left: 0 });
  assert.deepEqual(
    database.executed.map(({ sql }) => sql),
    [
      'DELETE FROM `secrets` WHERE `account` IN (?, ?, ?)',
      'DELETE FROM `accounts` WHERE `number` IN (?, ?, ?)',
    ],
  );
});

for (const column of ['login', 'since', 'content', 'account']) {
  test(`a database without the column ${column} is refused before the first INSERT`, () => {
    const database = databaseThatLacks(column);
    assert.throws(
      () => seed(database, 'mysql', OTHERS, { runId: 'r', count: 2, protocols: ['vless'] }),
      new RegExp(
        `no such column: ${column}: the dialect's tables are not in this database; nothing was inserted`,
      ),
    );
    assert.deepEqual(database.executed, []);
  });
}

const proxies = { proxies: { vless: {} } };
for (const [what, environment, line] of /** @type {[string, any, string][]} */ ([
  [
    'a dialect without tables',
    { dialect: readDialect('3x-ui'), user: {} },
    'the dialect of 3x-ui 3 has no tables',
  ],
  ['no database', { dialect: marzban, user: proxies }, 'users are seeded by SQL: name the variable'],
  [
    'users without proxies',
    { dialect: marzban, user: {}, database: {} },
    'systems.panel.user has no proxies',
  ],
  [
    'a protocol that the dialect does not name',
    { dialect: marzban, user: { proxies: { vless: {}, wireguard: {} } }, database: {} },
    'systems.panel.user has wireguard: only shadowsocks, trojan, vmess, vless can be seeded',
  ],
])) {
  test(`${what}: EXISTING ends in one line`, () => {
    assert.throws(
      () => checkExisting(5, environment),
      (text) => {
        assert.equal(typeof text, 'string');
        assert.ok(String(text).startsWith(`EXISTING=5: ${line}`), String(text));
        assert.doesNotMatch(String(text), /\n/);
        return true;
      },
    );
    checkExisting(0, environment);
  });
}

test('users that fit are taken', () =>
  checkExisting(5, /** @type {any} */ ({ dialect: marzban, user: proxies, database: {} })));
