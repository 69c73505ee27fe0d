/** Real, private databases for tests: a MariaDB, or a SQLite file. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createPool } from 'mysql2/promise';
import { freePort } from './free-port.js';
import { ROOT, cleanEnvironment, start, temporaryFolder } from './k6.js';
import { patience } from './patience.js';

/**
 * @typedef {object} Database
 * @property {string} url as PANEL_DATABASE_URL has it
 * @property {(sql: string, args?: unknown[]) => Promise<any[]>} query rows as objects; no rows for a statement without rows
 * @property {(path: string) => Promise<void>} load runs a file of statements, its path from the repository's root
 * @property {() => Promise<void>} stop ends it and removes its files
 */

const USER = 'panel';
const NAME = 'panel';
const READY_MS = 60_000;
const SQLITE = fileURLToPath(new URL('sqlite.py', import.meta.url));
const MARIADBD = '/usr/sbin/mariadbd';

/** SQL that the server runs first: it makes the user, so that no command line has the password. @param {string} password */
const firstStatements = (password) =>
  [
    `CREATE DATABASE ${NAME} CHARACTER SET utf8mb4;`,
    `CREATE USER '${USER}'@'%' IDENTIFIED BY '${password}';`,
    `GRANT ALL ON ${NAME}.* TO '${USER}'@'%';`,
    `GRANT SELECT ON performance_schema.* TO '${USER}'@'%';`,
    '',
  ].join('\n');

/** Starts MariaDB in a separate folder, with performance_schema. @returns {Promise<Database>} */
export async function startMariadb() {
  const folder = temporaryFolder('mariadb');
  const password = randomUUID();
  const port = await freePort();
  const init = join(folder.path, 'init.sql');
  writeFileSync(init, firstStatements(password), { mode: 0o600 });
  const server = start(
    join(ROOT, 'testbeds/panel/mariadb'),
    [MARIADBD, `--init-file=${init}`, `--port=${port}`, '--performance-schema=ON'],
    { cwd: folder.path, env: cleanEnvironment() },
  );
  const end = () => server.child.kill('SIGKILL');
  process.on('exit', end);
  const pool = createPool({
    host: '127.0.0.1',
    port,
    user: USER,
    password,
    database: NAME,
    multipleStatements: true,
    decimalNumbers: true,
    jsonStrings: true,
    connectionLimit: 4,
  });
  const stop = async () => {
    await pool.end();
    server.child.kill('SIGTERM');
    await server.ended;
    process.off('exit', end);
    folder.remove();
  };
  /** @type {Database['query']} */
  const query = async (sql, args = []) => {
    const [rows] = await pool.query(sql, args);
    return Array.isArray(rows) ? rows : [];
  };
  try {
    await ready(query, server);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `mysql://${USER}:${password}@127.0.0.1:${port}/${NAME}`,
    query,
    load: async (path) => void (await query(readFileSync(join(ROOT, path), 'utf8'))),
    stop,
  };
}

/** @param {Database['query']} query @param {ReturnType<typeof start>} server */
async function ready(query, server) {
  const waits = patience(READY_MS);
  for (;;) {
    try {
      await query('SELECT 1');
      return;
    } catch (error) {
      if (server.child.exitCode !== null || !waits())
        throw new Error(`mariadbd did not come up: ${server.output.stderr}`, { cause: error });
      await sleep(100);
    }
  }
}

/** An empty SQLite file in write-ahead mode, as in a panel. @returns {Promise<Database>} */
export async function startSqlite() {
  const folder = temporaryFolder('sqlite');
  const path = join(folder.path, 'panel.sqlite3');
  /** @param {{ sql: string, args?: unknown[] }[]} statements */
  const run = async (...statements) => {
    const child = spawn('python3', [SQLITE, path], { stdio: ['pipe', 'pipe', 'pipe'] });
    let [rows, error] = ['', ''];
    child.stdout.on('data', (chunk) => (rows += chunk));
    child.stderr.on('data', (chunk) => (error += chunk));
    const ended = new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
    child.stdin.end(JSON.stringify(statements));
    if ((await ended) !== 0) throw new Error(error.trim());
    return JSON.parse(rows);
  };
  await run({ sql: 'PRAGMA journal_mode = WAL' });
  return {
    url: `sqlite:///${path}`,
    query: (sql, args = []) => run({ sql, args }),
    load: async (name) => void (await run({ sql: readFileSync(join(ROOT, name), 'utf8') })),
    stop: async () => folder.remove(),
  };
}
