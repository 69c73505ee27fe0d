/**
 * A client of a Marzban-style user panel. Set-up calls throw one line, signIn() ends the run with it;
 * load calls return the response for the scenario to judge.
 *
 * | metric       | type    | unit  | what                                                            |
 * |--------------|---------|-------|-----------------------------------------------------------------|
 * | user_changes | counter | count | changes to users by `change` and `outcome`: sent, done, refused |
 * | relogins     | counter | count | log-ins because the token had expired                           |
 */
import http from 'k6/http';
import { Counter } from 'k6/x/windtunnel/record';
import { triedAt, whyNone } from '../environment.js';
import { explain, ofResponse } from '../errors.js';
import { stop } from '../execution.js';
import { requestTimeoutMs } from '../variables.js';
import { noteOf, runPrefix } from './users.js';

/**
 * What the load does to users, as it is compared with what is stored: a deleted user was active or disabled.
 * @typedef {'created' | 'disabled' | 'enabled' | 'deleted_active' | 'deleted_disabled'} Change
 */
/** @typedef {{ token: string | null, runId: string }} Session */
/** @typedef {import('k6/http').RefinedResponse<'text'>} Response */

const OK = 200;
const UNAUTHORIZED = 401;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const SETUP_TIMEOUT_MS = 30_000;
/** Longer than a pool waits for a connection (SQLAlchemy: 30 s, Marzban: 10 s), so that its own answer is heard. */
const LOAD_TIMEOUT_MS = requestTimeoutMs('panel');
const RESTART_TIMEOUT_MS = 300_000;
const BATCH = 100;
const WARMUP_USERS = 5;
const REMOVING = 'removing a user';
/** Set-up is no test of how many at once the panel carries. */
const AT_ONCE = 6;

const changes = new Counter('user_changes');
const relogins = new Counter('relogins');

/** @param {string | null} token @param {number} timeout */
const paramsOf = (token, timeout) => ({
  headers: { ...JSON_TYPE, ...(token ? { Authorization: `Bearer ${token}` } : {}) },
  responseType: /** @type {const} */ ('text'),
  timeout,
});

/** @param {'active' | 'disabled'} status */
const statusBody = (status) => `{"status":"${status}"}`;

/** Counts what became of a change: an answer of 5xx, or none, may have changed something or not. @param {Change} change @param {Response} response */
function countOutcome(change, { status }) {
  if (status === OK) changes.add(1, { change, outcome: 'done' });
  else if (status >= 400 && status < 500) changes.add(1, { change, outcome: 'refused' });
}

/** @param {Response} response @param {string} field of its JSON */
export function fieldOf(response, field) {
  try {
    return response.json(field);
  } catch {
    return undefined;
  }
}

export class Panel {
  /** @param {import('./environment.js').PanelEnvironment} environment */
  constructor(environment) {
    this.environment = environment;
    this.api = `${environment.url}/api`;
    /** This VU's own token, where it had to log in anew. @type {string | undefined} */
    this.renewed = undefined;
    /** The panel refused a token that it had only just given: another log-in would not help. */
    this.hopeless = false;
    /** @type {{ token: string | null, params: ReturnType<typeof paramsOf> } | undefined} */
    this.kept = undefined;
  }

  // Set-up and clean-up.

  /** The line for a set-up request that failed. @param {string} what @param {Response} response */
  problem(what, response) {
    const { url } = this.environment;
    const kind = ofResponse(response);
    if (kind === 'connection_refused')
      return `panel: ${url} refused the connection${triedAt(this.environment.connection)}: is the panel running there?`;
    if (response.status === 0) return `panel: ${url} ${what}: ${whyNone(url, response)}`;
    const said = String(response.body ?? '').slice(0, 200);
    return `panel: ${url} ${what}: HTTP ${response.status}: ${explain(kind)}${said ? `: ${said}` : ''}`;
  }

  logIn() {
    const auth = /** @type {Extract<import('../environment.js').Auth, { mode: 'login' }>} */ (
      this.environment.auth
    );
    const form = { username: auth.username, password: auth.password };
    return http.post(this.environment.url + auth.path, form, {
      timeout: SETUP_TIMEOUT_MS,
      responseType: 'text',
    });
  }

  /** In setup(): a token for all VUs. @returns {string | null} */
  signIn() {
    const { auth, url } = this.environment;
    if (auth.mode === 'none') return null;
    if (auth.mode === 'token') return auth.token;
    const response = this.logIn();
    if (response.status === UNAUTHORIZED)
      stop(`panel: ${url} refused user ${auth.username}: wrong user name or password`);
    if (response.status !== OK) stop(this.problem('log-in', response));
    const token = fieldOf(response, 'access_token');
    return typeof token === 'string'
      ? token
      : stop(`panel: ${url} log-in: the answer holds no access_token: is it a Marzban-style panel?`);
  }

  /**
   * In setup(): the same change to many users, several at a time. Throws where one is refused.
   * @param {Session} session
   * @param {string[]} names
   * @param {Change} change
   * @param {string} what for the line that is thrown
   * @param {(name: string) => [string, string, string]} requestOf method, URL, body
   */
  changeAll(session, names, change, what, requestOf) {
    const params = paramsOf(session.token, LOAD_TIMEOUT_MS);
    for (let from = 0; from < names.length; from += AT_ONCE) {
      const part = names.slice(from, from + AT_ONCE);
      changes.add(part.length, { change, outcome: 'sent' });
      const responses = http.batch(part.map((name) => [...requestOf(name), params]));
      for (const response of responses) countOutcome(change, response);
      const failed = responses.find((response) => response.status !== OK);
      if (failed) throw new Error(this.problem(what, failed));
    }
  }

  /** In setup(). @param {Session} session @param {string[]} names */
  createAll(session, names) {
    this.changeAll(session, names, 'created', 'creating a user', (name) => [
      'POST',
      `${this.api}/user`,
      this.userBody(session, name),
    ]);
  }

  /** In setup(). @param {Session} session @param {string[]} names */
  disableAll(session, names) {
    this.changeAll(session, names, 'disabled', 'disabling a user', (name) => [
      'PUT',
      `${this.api}/user/${name}`,
      statusBody('disabled'),
    ]);
  }

  /**
   * In setup(): some users go through all that can be done to them, so that the panel's first-use costs
   * (caches, the row of the inbound) are not measured; then as many as there will be clients read one at once, so
   * that the panel has as many workers and connections to its database. Throws where one is refused.
   * @param {Session} session
   * @param {number} clients
   */
  warmUp(session, clients) {
    const name = (/** @type {number} */ index) => `${runPrefix(session.runId)}warm${index}`;
    for (let index = 0; index < WARMUP_USERS; index += 1) {
      for (const [what, send] of /** @type {[string, () => Response][]} */ ([
        ['creating a user', () => this.create(session, name(index))],
        ['reading a user', () => this.read(session, name(index))],
        ['disabling a user', () => this.setStatus(session, name(index), 'disabled')],
        ['enabling a user', () => this.setStatus(session, name(index), 'active')],
        ['listing users', () => this.page(session, 0, 1)],
        [REMOVING, () => this.remove(session, name(index), 'active')],
      ])) {
        const response = send();
        const removed = what === REMOVING && this.isGone(session, name(index), response);
        if (response.status !== OK && !removed) throw new Error(this.problem(what, response));
      }
    }
    const all = `${this.api}/users?offset=0&limit=1`;
    http.batch(Array.from({ length: clients }, () => ['GET', all, null, this.params(session.token)]));
  }

  /**
   * Whether the panel failed after it had removed a user: Marzban does where the admin is not in its database.
   * @param {Session} session @param {string} name @param {Response} response
   */
  isGone(session, name, { status }) {
    const gone = status >= 500 && this.read(session, name).status === 404;
    if (gone)
      console.warn(
        'panel: a user was removed, and the answer was 5xx: Marzban does this where the admin is not in its database (`marzban-cli admin create` makes one that is); deletions will count as failed',
      );
    return gone;
  }

  /** In setup() and teardown(): makes the panel read its users from the database anew. @param {Session} session */
  restart(session) {
    const params = paramsOf(session.token, RESTART_TIMEOUT_MS);
    return http.post(`${this.api}/core/restart`, null, params);
  }

  /** How many users there are. @param {Session} session @param {string} [query] more of it, such as &status=active @returns {number | null} */
  total(session, query = '') {
    const response = this.request(session, (params) =>
      http.get(`${this.api}/users?offset=0&limit=1${query}`, params),
    );
    const total = response.status === OK ? fieldOf(response, 'total') : undefined;
    return typeof total === 'number' ? total : null;
  }

  /**
   * Removes what a run made: users with its name and its note, no others. What an answer says does not count,
   * but who is still there: Marzban may delete a user and fail afterwards.
   * @param {Session} session
   * @returns {number | null} how many are left; null where they could not be listed
   */
  removeRun(session) {
    const prefix = runPrefix(session.runId);
    let last = '';
    let tries = 0;
    for (;;) {
      const listed = this.request(session, (params) =>
        http.get(`${this.api}/users?offset=0&limit=${BATCH}&search=${prefix}`, params),
      );
      const users = listed.status === OK ? /** @type {any} */ (fieldOf(listed, 'users')) : undefined;
      if (!Array.isArray(users)) return null;
      const own = users
        .filter((user) => user.username.startsWith(prefix) && user.note === noteOf(session.runId))
        .map((user) => user.username);
      tries = own.join() === last ? tries + 1 : 1;
      // A token may end between the list and the deletions: once more.
      if (own.length === 0) return 0;
      if (tries > 2) return Number(fieldOf(listed, 'total') ?? users.length) - users.length + own.length;
      last = own.join();
      const params = this.params(this.renewed ?? session.token);
      for (let from = 0; from < own.length; from += AT_ONCE) {
        const part = own.slice(from, from + AT_ONCE);
        http.batch(part.map((name) => ['DELETE', `${this.api}/user/${name}`, null, params]));
      }
    }
  }

  // Load.

  /** Opens this VU's connection outside of the measurement: any answer will do. */
  connect() {
    http.head(this.environment.url, { timeout: SETUP_TIMEOUT_MS });
  }

  /** @param {string | null} token */
  params(token) {
    if (this.kept?.token !== token) this.kept = { token, params: paramsOf(token, LOAD_TIMEOUT_MS) };
    return this.kept.params;
  }

  /**
   * A request; where the token has expired, a log-in and the request again, once.
   * @param {Session} session
   * @param {(params: ReturnType<typeof paramsOf>) => Response} send
   */
  request(session, send) {
    const first = send(this.params(this.renewed ?? session.token));
    if (first.status !== UNAUTHORIZED || !this.renew()) return first;
    const second = send(this.params(/** @type {string} */ (this.renewed)));
    if (second.status === UNAUTHORIZED) this.hopeless = true;
    return second;
  }

  /** @returns {boolean} whether there is another token now */
  renew() {
    if (this.hopeless || this.environment.auth.mode !== 'login') return false;
    const response = this.logIn();
    const token = response.status === OK ? fieldOf(response, 'access_token') : undefined;
    // Another failure may pass: the next request that is refused tries again.
    this.hopeless = response.status === UNAUTHORIZED;
    if (typeof token !== 'string') return false;
    relogins.add(1);
    this.renewed = token;
    return true;
  }

  /** @param {Change} change @param {Session} session @param {(params: ReturnType<typeof paramsOf>) => Response} send */
  change(change, session, send) {
    changes.add(1, { change, outcome: 'sent' });
    const response = this.request(session, send);
    countOutcome(change, response);
    return response;
  }

  /** @param {Session} session @param {string} name */
  userBody(session, name) {
    return JSON.stringify({
      username: name,
      ...this.environment.user,
      status: 'active',
      note: noteOf(session.runId),
    });
  }

  /** @param {Session} session @param {string} name */
  create(session, name) {
    const body = this.userBody(session, name);
    return this.change('created', session, (params) => http.post(`${this.api}/user`, body, params));
  }

  /** @param {Session} session @param {string} name */
  read(session, name) {
    return this.request(session, (params) => http.get(`${this.api}/user/${name}`, params));
  }

  /** @param {Session} session @param {string} name @param {'active' | 'disabled'} status */
  setStatus(session, name, status) {
    const change = status === 'active' ? 'enabled' : 'disabled';
    const body = statusBody(status);
    return this.change(change, session, (params) => http.put(`${this.api}/user/${name}`, body, params));
  }

  /** @param {Session} session @param {string} name @param {'active' | 'disabled'} status that it has */
  remove(session, name, status) {
    return this.change(`deleted_${status}`, session, (params) =>
      http.del(`${this.api}/user/${name}`, null, params),
    );
  }

  /** @param {Session} session @param {number} offset @param {number} limit */
  page(session, offset, limit) {
    return this.request(session, (params) =>
      http.get(`${this.api}/users?offset=${offset}&limit=${limit}`, params),
    );
  }

  /** @param {Session} session */
  system(session) {
    return this.request(session, (params) => http.get(`${this.api}/system`, params));
  }
}
