/**
 * A client of a user panel. Its dialect (dialect.js) says how the panel takes each operation. A failed set-up call throws a one-line message; signIn() ends the run with it. A
 * load call returns the response, which the scenario judges.
 *
 * | metric       | type    | unit  | what                                                            |
 * |--------------|---------|-------|-----------------------------------------------------------------|
 * | user_changes | counter | count | changes to users by `change` and `outcome`: sent, done, refused |
 */
import crypto from 'k6/crypto';
import http from 'k6/http';
import { Counter } from 'k6/x/windtunnel/record';
import { errorIn, isAccepted, redirectOf, saidIn, shown } from '../answers.js';
import { triedAt, whyNone } from '../environment.js';
import { explain, ofResponse } from '../errors.js';
import { chunked } from '../lists.js';
import { Login } from '../login.js';
import { connected } from '../requests.js';
import { requestTimeoutMs } from '../variables.js';
import { holds, isFoundBy, pageIn, pageOf, systemFault } from './answers.js';
import { paramsOf } from './params.js';
import { noteOf, runPrefix } from './users.js';

/**
 * A change to a user, for the comparison with the stored data. A deletion names the status before it.
 * @typedef {'created' | 'disabled' | 'enabled' | 'deleted_active' | 'deleted_disabled'} Change
 */
/** @typedef {import('./dialect.js').Operation} Operation */
/** @typedef {{ token: string | null, runId: string }} Session */
/** @typedef {import('k6/http').RefinedResponse<'text'>} Response */

const SETUP_TIMEOUT_MS = 30_000;
/** Longer than a pool waits for a connection (SQLAlchemy: 30 s, Marzban: 10 s), so that the panel can answer, ms. */
const LOAD_TIMEOUT_MS = requestTimeoutMs('panel');
const RESTART_TIMEOUT_MS = 300_000;
const BATCH = 100;
/** Tries to read a list. Marzban answers 500 if the list includes a user that is being deleted. */
const LIST_TRIES = 3;
const WARMUP_USERS = 5;
const REMOVING = 'removing a user';
/** Parallel requests of set-up, unless the dialect says fewer. */
const AT_ONCE = 6;
const KEY_DIGITS = 32;

const changes = new Counter('user_changes');

export class Panel {
  /** @param {import('./environment.js').PanelEnvironment} environment */
  constructor(environment) {
    this.environment = environment;
    this.dialect = environment.dialect;
    this.cookie = this.dialect.file.cookie;
    this.atOnce = this.dialect.file.at_once ?? AT_ONCE;
    /** The operation and the user of the last request. @type {Operation} */
    this.operation = 'read';
    this.asked = '';
    this.login = new Login('panel', environment, (what, response) => this.problem(what, response));
    /** The message on the last unreadable list. */
    this.unread = '';
    /** @type {{ token: string | null, params: ReturnType<typeof paramsOf> } | undefined} */
    this.kept = undefined;
  }

  // Set-up and clean-up.

  /** The message for a failed set-up request. @param {string} what @param {Response} response @param {Operation} [operation] */
  problem(what, response, operation) {
    const { url } = this.environment;
    const kind = ofResponse(response);
    if (kind === 'connection_refused')
      return `panel: ${url} refused the connection${triedAt(this.environment.connection)}: is the panel running there?`;
    if (response.status === 0) return `panel: ${url} ${what}: ${whyNone(url, { error: errorIn(response) })}`;
    const target = redirectOf(response);
    if (target !== undefined)
      return `panel: ${url} ${what}: HTTP ${response.status} to ${target}: redirects are not followed: put that address into the environment's url`;
    const text = saidIn(response);
    if (isAccepted(response)) {
      const fault = operation && this.dialect.fault(operation, response);
      return `panel: ${url} ${what}: ${shown(response)}${fault ? `: ${fault}` : ''}`;
    }
    return `panel: ${url} ${what}: HTTP ${response.status}: ${explain(kind)}${text ? `: ${text}` : ''}`;
  }

  /** In setup(): a token for all VUs. A panel of another dialect ends the run. @returns {string | null} */
  signIn() {
    const { token } = this.login.signIn();
    const { dialect, others, url } = this.environment;
    const signed = (/** @type {import('./dialect.js').Dialect} */ one) =>
      one.isSigned(http.get(url + one.file.sign.path, paramsOf(token, SETUP_TIMEOUT_MS, this.cookie)));
    const like = signed(dialect) ? undefined : others.find(signed);
    if (like)
      console.warn(
        `panel: ${url} does not answer as ${dialect.file.title}; it resembles ${like.file.title}: set systems.panel.dialect to ${like.name}`,
      );
    return token;
  }

  /**
   * The address of an operation.
   * @param {Operation} operation @param {Record<string, string | number>} [values] for its path
   */
  url(operation, values) {
    const { url, user } = this.environment;
    return url + this.dialect.path(operation, { .../** @type {any} */ (user), ...values });
  }

  /** The key of a user of the run: the same in each virtual user, and unknown outside. @param {Session} session @param {string} name */
  keyOf({ token }, name) {
    return crypto.hmac('sha256', token ?? '', name, 'hex').slice(0, KEY_DIGITS);
  }

  /** A request as http.batch() takes it: method, address, body. @param {Operation} operation @param {Session} session @param {string} name @returns {[string, string, string | null]} */
  about(operation, session, name) {
    const key = this.dialect.takesKeys ? this.keyOf(session, name) : '';
    const values = { name, key, note: noteOf(session.runId) };
    const body = this.dialect.body(operation, values, this.environment.user);
    return [this.dialect.method(operation), this.url(operation, { name, key }), body];
  }

  /** Counts the outcome of a change. After a 5xx, another status of 2xx than the dialect's, or without an answer, the outcome is unknown. @param {Change} change @param {Operation} operation @param {Response} response */
  countOutcome(change, operation, response) {
    const { status } = response;
    if (this.dialect.accepts(operation, response)) changes.add(1, { change, outcome: 'done' });
    else if ((status >= 400 && status < 500) || (isAccepted(response) && this.dialect.isRefused(response)))
      changes.add(1, { change, outcome: 'refused' });
  }

  /** The fault of an answer of 2xx to the last request; null: no fault. @param {Response} response */
  fault(response) {
    return this.dialect.fault(this.operation, response);
  }

  /** Judges the answer about one user, if the dialect's answer names the user. @param {'username' | 'status'} field @param {string} wanted @returns {(response: Response) => number | string} */
  holds(field, wanted) {
    return (response) =>
      this.dialect.namesUser(this.operation)
        ? holds(field, wanted)(response, this.dialect.userIn(this.operation, response, this.asked))
        : 1;
  }

  /** Judges the answer about the system. @param {Response} response */
  systemFault(response) {
    return systemFault(this.dialect.figures(response));
  }

  /** @param {Response} response @param {number} [limit] of the request */
  pageOf(response, limit) {
    const users = this.dialect.users(response);
    if (this.dialect.isWhole) return pageOf(users, users?.length);
    return pageOf(users, this.dialect.total(response), limit);
  }

  /**
   * In setup(): makes the same change to many users, several at a time. Throws if the panel refuses one.
   * @param {Session} session
   * @param {string[]} names
   * @param {Change} change
   * @param {string} what for the message
   * @param {Operation} operation
   */
  changeAll(session, names, change, what, operation) {
    const params = paramsOf(session.token, LOAD_TIMEOUT_MS, this.cookie);
    for (const part of chunked(names, this.atOnce)) {
      changes.add(part.length, { change, outcome: 'sent' });
      const responses = http.batch(part.map((name) => [...this.about(operation, session, name), params]));
      for (const response of responses) this.countOutcome(change, operation, response);
      const failed = responses.find((response) => !this.dialect.accepts(operation, response));
      if (failed) throw new Error(this.problem(what, failed, operation));
    }
  }

  /** In setup(): creates users. @param {Session} session @param {string[]} names */
  createAll(session, names) {
    this.changeAll(session, names, 'created', 'creating a user', 'create');
  }

  /** In setup(): disables users. @param {Session} session @param {string[]} names */
  disableAll(session, names) {
    this.changeAll(session, names, 'disabled', 'disabling a user', 'disable');
  }

  /**
   * In setup(): does every operation on some users, so that the panel's first-use costs (caches, the row of the inbound) are
   * not measured. Then each client reads one user at the same time, so that the panel has enough workers and database
   * connections. Throws if the panel refuses a request.
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
        if (!this.dialect.accepts(this.operation, response) && !removed)
          throw new Error(this.problem(what, response, this.operation));
      }
    }
    const all = this.url('list', { offset: 0, limit: 1 });
    http.batch(Array.from({ length: clients }, () => ['GET', all, null, this.params(session.token)]));
  }

  /**
   * Whether the panel removed a user and then failed. Marzban does so if the admin is not in its database.
   * @param {Session} session @param {string} name @param {Response} response
   */
  isGone(session, name, { status }) {
    const gone = status >= 500 && this.read(session, name).status === 404;
    if (gone)
      console.warn(
        'panel: a user was removed, but the answer was 5xx: Marzban does this if the admin is not in its database (`marzban-cli admin create` adds one); deletions will count as failed',
      );
    return gone;
  }

  /** In setup() and teardown(): makes the panel read its users from the database again. @param {Session} session */
  restart(session) {
    const params = paramsOf(session.token, RESTART_TIMEOUT_MS, this.cookie);
    return http.request(this.dialect.method('restart'), this.url('restart'), null, params);
  }

  /**
   * Lists users; null if the list cannot be read.
   * @param {Session} session
   * @param {{ offset?: number, limit: number, search?: string, status?: string }} wanted
   * @returns {import('./answers.js').Page | null}
   */
  list(session, { offset = 0, limit, search = '', status = '' }) {
    const { url, user } = this.environment;
    const wanted = { offset, limit, search, status };
    const address = url + this.dialect.listPath(wanted, user);
    for (let tries = 0; tries < LIST_TRIES; tries += 1) {
      const response = this.request(session, 'list', (params) => http.get(address, params));
      // A page with more users than the limit is still a list of users. The load judges whether a page is right.
      const page = this.dialect.accepts('list', response) ? this.pageOf(response) : null;
      if (page !== null && typeof page !== 'string')
        return this.dialect.isWhole ? pageIn(page, wanted) : page;
      this.unread = this.problem(`listing users${page === null ? '' : `: ${page}`}`, response);
      if (response.status < 500) return null;
    }
    return null;
  }

  /**
   * Number of users; null if unknown. A panel that ignores the filter also counts other users.
   * @param {Session} session @param {{ search?: string, status?: string }} [filter] @returns {number | null}
   */
  total(session, filter = {}) {
    const page = this.list(session, { limit: 1, ...filter });
    const { search = '', status } = filter;
    const fits = page?.users.every((user) => isFoundBy(user, search) && (!status || user.status === status));
    // A count without any listed user, or users with a count of 0, is wrong.
    return page && fits && (page.total === 0) === (page.names.length === 0) ? page.total : null;
  }

  /**
   * All users that a search finds, read page by page; null if the list cannot be read to its end.
   * @param {Session} session @param {string} search @returns {any[] | null}
   */
  everyone(session, search) {
    /** @type {Map<string, any>} */
    const found = new Map();
    const batch = this.dialect.isWhole ? Infinity : BATCH;
    for (let offset = 0; ; offset += batch) {
      const page = this.list(session, { offset, limit: batch, search });
      if (!page) return null;
      for (const user of page.users) found.set(user.username, user);
      if (offset + batch >= page.total) return found.size >= page.total ? [...found.values()] : null;
    }
  }

  /**
   * Removes the users that a run created, which have both its prefix and its note. Only the list counts, not the answers:
   * Marzban may delete a user and fail afterwards.
   * @param {Session} session
   * @returns {number | null} number of users left; null if they could not be listed
   */
  removeRun(session) {
    const prefix = runPrefix(session.runId);
    let last = '';
    let tries = 0;
    for (;;) {
      const users = this.everyone(session, prefix);
      if (users === null) return null;
      const names = users
        .filter((user) => user.username.startsWith(prefix) && user.note === noteOf(session.runId))
        .map((user) => user.username);
      tries = names.join() === last ? tries + 1 : 1;
      // The token may expire between the list and the deletions, so deletions are tried twice.
      if (names.length === 0) return 0;
      if (tries > 2) return names.length;
      last = names.join();
      const params = this.params(this.login.current(session).token);
      for (const part of chunked(names, this.atOnce))
        http.batch(part.map((name) => [...this.about('delete', session, name), params]));
    }
  }

  // Load.

  /** Opens this VU's connection before the measurement. Any answer is good enough. */
  connect() {
    connected(http.head(this.environment.url, { timeout: SETUP_TIMEOUT_MS }));
  }

  /** @param {string | null} token */
  params(token) {
    if (this.kept?.token !== token)
      this.kept = { token, params: paramsOf(token, LOAD_TIMEOUT_MS, this.cookie) };
    return this.kept.params;
  }

  /**
   * Sends a request. If the token has expired, logs in and sends the request once more.
   * @param {Session} session
   * @param {Operation} operation
   * @param {(params: ReturnType<typeof paramsOf>) => Response} send
   */
  request(session, operation, send) {
    this.operation = operation;
    return this.login.request(session, (token) => send(this.params(token)));
  }

  /** Sends an operation on one user. @param {Operation} operation @param {Session} session @param {string} name */
  send(operation, session, name) {
    const request = this.about(operation, session, name);
    this.asked = name;
    return this.request(session, operation, (params) => http.request(...request, params));
  }

  /** @param {Change} change @param {Operation} operation @param {Session} session @param {string} name */
  change(change, operation, session, name) {
    changes.add(1, { change, outcome: 'sent' });
    const response = this.send(operation, session, name);
    this.countOutcome(change, operation, response);
    return response;
  }

  /** @param {Session} session @param {string} name */
  create(session, name) {
    return this.change('created', 'create', session, name);
  }

  /** @param {Session} session @param {string} name */
  read(session, name) {
    return this.send('read', session, name);
  }

  /** @param {Session} session @param {string} name @param {'active' | 'disabled'} status */
  setStatus(session, name, status) {
    const active = status === 'active';
    return this.change(active ? 'enabled' : 'disabled', active ? 'enable' : 'disable', session, name);
  }

  /** @param {Session} session @param {string} name @param {'active' | 'disabled'} status before the deletion */
  remove(session, name, status) {
    return this.change(`deleted_${status}`, 'delete', session, name);
  }

  /** @param {Session} session @param {number} offset @param {number} limit */
  page(session, offset, limit) {
    const address = this.url('list', { offset, limit });
    return this.request(session, 'list', (params) => http.get(address, params));
  }

  /** In setup(): reads several pages at once. @param {Session} session @param {number[]} offsets @param {number} limit @returns {Response[]} */
  pages(session, offsets, limit) {
    const params = this.params(this.login.current(session).token);
    return http.batch(offsets.map((offset) => ['GET', this.url('list', { offset, limit }), null, params]));
  }

  /** The user's subscription, as a client with this name gets it. The request carries no token of the panel. @param {string} address @param {string} agent */
  subscription(address, agent) {
    return http.get(address, {
      headers: { 'User-Agent': agent },
      responseType: 'text',
      timeout: LOAD_TIMEOUT_MS,
    });
  }

  /** Makes the panel choose new keys of a user. @param {Session} session @param {string} name @param {object} body */
  renew(session, name, body) {
    return this.request(session, 'enable', (params) =>
      http.request(this.dialect.method('enable'), this.url('enable', { name }), JSON.stringify(body), params),
    );
  }

  /** @param {Session} session */
  system(session) {
    return this.request(session, 'system', (params) => http.get(this.url('system'), params));
  }
}
