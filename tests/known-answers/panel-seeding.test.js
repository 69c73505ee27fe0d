/** Users that are seeded by SQL: all of them, or, with one line that says why, none. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { startSqlite } from '../support/database.js';
import { withPanel } from '../support/faulty.js';
import { panelEntry, temporaryFolder, writeEnvironment } from '../support/k6.js';

const folder = temporaryFolder('panel-seeding');
after(folder.remove);

const USERS = (/** @type {string} */ more) =>
  `CREATE TABLE users (id INTEGER PRIMARY KEY, username TEXT, status TEXT, used_traffic INTEGER, data_limit_reset_strategy TEXT,
   created_at TEXT, last_status_change TEXT${more})`;
const PROXIES = 'CREATE TABLE proxies (id INTEGER PRIMARY KEY, user_id INTEGER, type TEXT, settings TEXT)';
const REFUSES =
  "CREATE TRIGGER refuses BEFORE INSERT ON proxies WHEN new.user_id > 1200 BEGIN SELECT RAISE(ABORT, 'the disk is too small'); END";

/** @type {Record<string, { tables: string[], says: RegExp }>} */
const DATABASES = {
  'without the table of proxies': {
    tables: [USERS(', note TEXT')],
    says: /its database cannot be read: .*no such table: proxies.*unset the variable/,
  },
  'without a column': {
    tables: [USERS(', note TEXT').replace('used_traffic INTEGER,', ''), PROXIES],
    says: /EXISTING=1500: .*no such column: used_traffic.*the dialect's tables are not in this database/,
  },
  'that refuses in mid-seeding': {
    tables: [USERS(', note TEXT'), PROXIES, REFUSES],
    says: /EXISTING=1500: .*the disk is too small/,
  },
};

/**
 * Runs a scenario with 1,500 users to seed, which ends in its set-up.
 * @param {string} database its URL
 * @returns {Promise<string>} the line
 */
async function refused(database) {
  let line = '';
  await withPanel({}, async (panel) => {
    const bench = startBench({
      ENV: writeEnvironment(
        folder.path,
        panelEntry(panel.url, { database_env: 'PANEL_DATABASE_URL' }),
        'panel',
      ),
      ONLY: 'panel/users-create',
      PANEL_PASSWORD: 'panel',
      PANEL_DATABASE_URL: database,
      EXISTING: '1500',
    });
    try {
      assert.equal(await bench.ended, 4, bench.output.stdout + bench.output.stderr);
      const lines = errorLines(bench.output);
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.deepEqual(panel.left(), []);
      [line] = lines;
    } finally {
      bench.remove();
    }
  });
  return line;
}

for (const [what, { tables, says }] of Object.entries(DATABASES)) {
  test(`a database ${what} keeps no seeded user`, async () => {
    const database = await startSqlite();
    try {
      for (const table of tables) await database.query(table);
      assert.match(await refused(database.url), says);
      assert.deepEqual(await database.query('SELECT username FROM users'), []);
    } finally {
      await database.stop();
    }
  });
}

test('a path without a database ends the set-up', async () => {
  const line = await refused(`sqlite:///${folder.path}/none.db`);
  assert.match(line, /its database cannot be read: unable to open database file.*unset the variable/);
});
