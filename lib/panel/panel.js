/**
 * A client of a Marzban-style user panel. Set-up calls throw one line, signIn() ends the run with it;
 * load calls return the response for the scenario to judge.
 *
 * | metric       | type    | unit  | what                                                            |
 * |--------------|---------|-------|-----------------------------------------------------------------|
 * | user_changes | counter | count | changes to users by `change` and `outcome`: sent, done, refused |
 */
import http from 'k6/http';
import { Counter } from 'k6/x/windtunnel/record';
import { errorIn, isAccepted, redirectOf, saidIn, shown } from '../answers.js';
import { triedAt, whyNone } from '../environment.js';
import { explain, ofResponse } from '../errors.js';
import { Login } from '../login.js';
import { connected } from '../requests.js';
import { requestTimeoutMs } from '../variables.js';
import { isFoundBy, pageOf } from './answers.js';
import { noteOf, runPrefix } from './users.js';

/**
 * What the load does to users, as it is compared with what is stored: a deleted user was active or disabled.
 * @typedef {'created' | 'disabled' | 'enabled' | 'deleted_active' | 'deleted_disabled'} Change
 */
/** @typedef {{ token: string | null, runId: string }} Session */
/** @typedef {import('k6/http').RefinedResponse<'text'>} Response */

const JSON_TYPE = { 'Content-Type': 'application/json' };
const SETUP_TIMEOUT_MS = 30_000;
/** Longer than a pool waits for a connection (SQLAlchemy: 30 s, Marzban: 10 s), so that its own answer is heard. */
const LOAD_TIMEOUT_MS = requestTimeoutMs('panel');
const RESTART_TIMEOUT_MS = 300_000;
const BATCH = 100;
/** Tries to read a list: Marzban answers 500 to one that meets a user who is being deleted. */
const LIST_TRIES = 3;
const WARMUP_USERS = 5;
const REMOVING = 'removing a user';
/** Set-up is no test of how many at once the panel carries. */
const AT_ONCE = 6;

const changes = new Counter('user_changes');

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
  if (isAccepted({ status })) changes.add(1, { change, outcome: 'done' });
  else if (status >= 400 && status < 500) changes.add(1, { change, outcome: 'refused' });
}

export class Panel {
  /** @param {import('./environment.js').PanelEnvironment} environment */
  constructor(environment) {
    this.environment = environment;
    this.api = `${environment.url}/api`;
    this.login = new Login('panel', environment, (what, response) => this.problem(what, response));
    /** The line on the last list that could not be read. */
    this.unread = '';
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
    if (response.status === 0) return `panel: ${url} ${what}: ${whyNone(url, { error: errorIn(response) })}`;
    const target = redirectOf(response);
    if (target !== undefined)
      return `panel: ${url} ${what}: HTTP ${response.status} to ${target}: redirects are not followed: put that address into the environment's url`;
    const said = saidIn(response);
    if (isAccepted(response)) return `panel: ${url} ${what}: ${shown(response)}`;
    return `panel: ${url} ${what}: HTTP ${response.status}: ${explain(kind)}${said ? `: ${said}` : ''}`;
  }

  /** In setup(): a token for all VUs. @returns {string | null} */
  signIn() {
    return this.login.signIn().token;
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
      const failed = responses.find((response) => !isAccepted(response));
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
        if (!isAccepted(response) && !removed) throw new Error(this.problem(what, response));
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

  /**
   * Some users; null where they cannot be listed.
   * @param {Session} session
   * @param {{ offset?: number, limit: number, search?: string, status?: string }} wanted
   * @returns {import('./answers.js').Page | null}
   */
  list(session, { offset = 0, limit, search = '', status = '' }) {
    const query = `offset=${offset}&limit=${limit}${search && `&search=${search}`}${status && `&status=${status}`}`;
    for (let tries = 0; tries < LIST_TRIES; tries += 1) {
      const response = this.request(session, (params) => http.get(`${this.api}/users?${query}`, params));
      // More than the limit are users all the same: whether a page is right, the load judges.
      const page = isAccepted(response) ? pageOf(response) : null;
      if (page !== null && typeof page !== 'string') return page;
      this.unread = this.problem(`listing users${page === null ? '' : `: ${page}`}`, response);
      if (response.status < 500) return null;
    }
    return null;
  }

  /**
   * How many users there are. A panel that ignores a filter counts others, too: then it cannot be told.
   * @param {Session} session @param {{ search?: string, status?: string }} [filter] @returns {number | null}
   */
  total(session, filter = {}) {
    const page = this.list(session, { limit: 1, ...filter });
    const { search = '', status } = filter;
    const fits = page?.users.every((user) => isFoundBy(user, search) && (!status || user.status === status));
    // A count without anybody to show for it is no count.
    return page && fits && (page.total === 0) === (page.names.length === 0) ? page.total : null;
  }

  /**
   * Everybody whom a search finds, page by page; null where the list cannot be read to its end.
   * @param {Session} session @param {string} search @returns {any[] | null}
   */
  everyone(session, search) {
    /** @type {Map<string, any>} */
    const found = new Map();
    for (let offset = 0; ; offset += BATCH) {
      const page = this.list(session, { offset, limit: BATCH, search });
      if (!page) return null;
      for (const user of page.users) found.set(user.username, user);
      if (offset + BATCH >= page.total) return found.size >= page.total ? [...found.values()] : null;
    }
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
      const users = this.everyone(session, prefix);
      if (users === null) return null;
      const own = users
        .filter((user) => user.username.startsWith(prefix) && user.note === noteOf(session.runId))
        .map((user) => user.username);
      tries = own.join() === last ? tries + 1 : 1;
      // A token may end between the list and the deletions: once more.
      if (own.length === 0) return 0;
      if (tries > 2) return own.length;
      last = own.join();
      const params = this.params(this.login.current(session).token);
      for (let from = 0; from < own.length; from += AT_ONCE) {
        const part = own.slice(from, from + AT_ONCE);
        http.batch(part.map((name) => ['DELETE', `${this.api}/user/${name}`, null, params]));
      }
    }
  }

  // Load.

  /** Opens this VU's connection outside of the measurement: any answer will do. */
  connect() {
    connected(http.head(this.environment.url, { timeout: SETUP_TIMEOUT_MS }));
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
    return this.login.request(session, (token) => send(this.params(token)));
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

  /** In setup(): several pages at a time. @param {Session} session @param {number[]} offsets @param {number} limit @returns {Response[]} */
  pages(session, offsets, limit) {
    const params = this.params(this.login.current(session).token);
    return http.batch(
      offsets.map((offset) => ['GET', `${this.api}/users?offset=${offset}&limit=${limit}`, null, params]),
    );
  }

  /** @param {Session} session */
  system(session) {
    return this.request(session, (params) => http.get(`${this.api}/system`, params));
  }
}
