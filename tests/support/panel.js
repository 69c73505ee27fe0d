/** The testbed `panel`: its API, its database, its xray. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ROOT, cleanEnvironment } from './k6.js';

export const TAG = 'Shadowsocks TCP';

/** A panel closes a connection after some seconds without a request: a request at that moment could fail. */
const ONCE = { connection: 'close' };

/** The body of a create. @param {string} username @param {object} [more] */
export const newUser = (username, more = {}) => ({
  username,
  proxies: { shadowsocks: {} },
  inbounds: { shadowsocks: [TAG] },
  ...more,
});

/**
 * The calls in a Server-Timing header.
 * @param {string | null} header
 */
function serverTiming(header) {
  return (header ?? '').split(', ').flatMap((entry) => {
    const match = /^(\w+);dur=(\d+\.\d{3})$/.exec(entry);
    return match ? [{ name: match[1], ms: Number(match[2]) }] : [];
  });
}

/** Parts of a request, as the panel names them. */
export const COMPONENTS = ['route', 'database_pool', 'database', 'xray_remove', 'xray_add'];

/** @typedef {Record<string, { count: number, sum: number }>} Counts of calls, and their seconds, by component */

/** The panel's sums for Prometheus. @param {string} url @returns {Promise<Counts>} */
export async function countsOf(url) {
  const text = await (await fetch(`${url}/metrics`, { headers: ONCE })).text();
  const of = (/** @type {string} */ component, /** @type {string} */ kind) =>
    [
      ...text.matchAll(
        new RegExp(`^panel_component_seconds_${kind}{component="${component}",.*} (.*)$`, 'gm'),
      ),
    ].reduce((total, [, value]) => total + Number(value), 0);
  return Object.fromEntries(
    COMPONENTS.map((name) => [name, { count: of(name, 'count'), sum: of(name, 'sum') }]),
  );
}

/** @param {string} server @param {string} command */
function askXray(server, command) {
  const args = ['api', command, `--server=${server}`, `-tag=${TAG}`];
  const { stdout, stderr } = spawnSync(`${ROOT}/bin/xray`, args, { encoding: 'utf8' });
  if (stderr) throw new Error(stderr);
  return JSON.parse(stdout);
}

/**
 * @param {any} instance as the sidecar answered its start
 */
export function panel({ outputs, secret_outputs: secrets, processes }) {
  const url = outputs.PANEL_URL;
  const databaseUrl = secrets.PANEL_DATABASE_URL;
  /** @param {string} name @returns {number} */
  const pid = (name) => processes.find((/** @type {any} */ one) => one.name === name).pid;
  const xray = JSON.parse(readFileSync(`/proc/${pid('panel')}/cwd/xray.json`, 'utf8')).api.listen;
  /** @type {Set<import('node:child_process').ChildProcess>} */
  const transactions = new Set();
  /** Every call that the panel has reported. @type {{ name: string, ms: number }[]} */
  const told = [];

  /**
   * @param {string} method
   * @param {string} path
   * @param {{ token?: string, json?: unknown, form?: Record<string, string> }} [content]
   */
  const ask = async (method, path, { token, json, form } = {}) => {
    /** @type {Record<string, string>} */
    const headers = { ...ONCE, ...(token && { authorization: `Bearer ${token}` }) };
    if (json) headers['content-type'] = 'application/json';
    const body = form ? new URLSearchParams(form) : json && JSON.stringify(json);
    const answer = await fetch(url + path, { method, headers, body });
    const timing = serverTiming(answer.headers.get('server-timing'));
    told.push(...timing);
    return { status: answer.status, timing, body: /** @type {any} */ (await answer.json()) };
  };

  const logIn = async () => {
    const form = { username: outputs.PANEL_USERNAME, password: secrets.PANEL_PASSWORD };
    return (await ask('POST', '/api/admin/token', { form })).body.access_token;
  };

  return {
    url,
    pid,
    told,
    secrets: [secrets.PANEL_PASSWORD, ...(databaseUrl.match(/(?<=:)[^:/]+(?=@)/) ?? [])],
    ask,
    logIn,
    /** Removes all users. */
    removeUsers: async () => {
      const token = await logIn();
      for (const { username } of (await ask('GET', '/api/users', { token })).body.users)
        await ask('DELETE', `/api/user/${username}`, { token });
    },
    /** Sends a request as the administrator, after a new log-in. @param {string} method @param {string} path @param {unknown} [json] */
    call: async (method, path, json) => ask(method, path, { token: await logIn(), json }),
    /** The users with that name in xray, as xray reports. @param {string} username */
    inXray: (username) => {
      const all = askXray(xray, 'inbounduser').users ?? [];
      return all.filter((/** @type {any} */ user) => user.email.replace(/^\d+\./, '') === username);
    },
    countInXray: () => Number(askXray(xray, 'inboundusercount').count ?? 0),
    /** Ends processes that a failed test left open. */
    release: () => transactions.forEach((child) => child.kill()),
    /** A transaction that stays open until end(). */
    transaction: () => {
      const child = spawn(`${ROOT}/.venv/panel/bin/python`, ['tests/support/sql.py'], {
        cwd: ROOT,
        env: { ...cleanEnvironment(), DATABASE_URL: databaseUrl },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      transactions.add(child);
      const ended = new Promise((resolve) => child.on('close', resolve));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      return {
        /** @param {string} statement @returns {Promise<unknown[][]>} */
        run: async (statement) => {
          child.stdin.write(`${statement}\n`);
          const answer = await lines.next();
          if (answer.done) throw new Error(`no answer to ${statement}`);
          return JSON.parse(answer.value);
        },
        end: async () => {
          child.stdin.end();
          const code = await ended;
          if (code !== 0) throw new Error(`the transaction ended with ${code}`);
        },
      };
    },
  };
}
