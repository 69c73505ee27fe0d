/**
 * A client of a Pulsar-style message relay: signing in, topics, publishing and
 * polling over HTTP. Set-up calls stop the run with one line; load calls return
 * the response for the scenario to judge.
 */
import http from 'k6/http';
import { triedAt, whyNone } from '../environment.js';
import { explain, ofResponse } from '../errors.js';
import { stop } from '../execution.js';
import { reportLeft } from '../operations.js';
import { requestTimeoutMs } from '../variables.js';

/** @typedef {import('../environment.js').SystemEnvironment} SystemEnvironment */
/**
 * @typedef {object} Session
 * @property {string | null} token
 * @property {number | null} renewAt Date.now() from which on a VU should log in anew; null for never
 * @property {number} marginMs how long the token lives on after that
 *
 * @typedef {{ session: Session, topics: string[] }} Opened
 * @typedef {Opened & import('../scenario.js').Begun} Data what setup() returns
 */

const JSON_TYPE = { 'Content-Type': 'application/json' };
const SETUP_TIMEOUT = '10s';
/** A number: k6 would parse a text anew for each request. */
const LOAD_TIMEOUT_MS = requestTimeoutMs('pulsar');
/** A token is replaced this long before it ends, or a fifth of a shorter life, so that no request meets a dead one. */
const RENEW_BEFORE_MS = 60_000;
/** After a log-in that failed, the next try. */
const RETRY_LOGIN_MS = 30_000;
const WARMUP_MESSAGES = 20;
const WARMUP_MOST_MS = 10_000;

/** @param {Session} session @returns {Record<string, string>} */
const bearer = (session) => (session.token ? { Authorization: `Bearer ${session.token}` } : {});

export class Relay {
  /** @param {SystemEnvironment} environment */
  constructor(environment) {
    this.environment = environment;
    this.url = environment.url;
    /** @type {Session | undefined} of this VU, where it renewed the one from setup() */
    this.renewed = undefined;
    this.connected = false;
    /** Share of the margin by which this VU waits. */
    this.jitter = Math.random() / 2;
    /** k6's request parameters by response type, for the token that they hold. */
    /** @type {{ token: string | null, none: any, text: any } | undefined} */
    this.loadParams = undefined;
  }

  /** The line for a set-up request that failed. @param {string} what @param {import('k6/http').RefinedResponse<any>} response */
  problem(what, response) {
    const kind = ofResponse(response);
    if (kind === 'connection_refused')
      return `pulsar: ${this.url} refused the connection${triedAt(this.environment.connection)}: is the relay running there?`;
    if (response.status === 0) return `pulsar: ${this.url} ${what}: ${whyNone(this.url, response)}`;
    if (response.status === 400 && /host/i.test(String(response.body))) {
      return `pulsar: ${this.url} refused its own host name (400): put it into the relay's PULSAR_TRUSTED_HOSTS`;
    }
    return `pulsar: ${this.url} ${what}: HTTP ${response.status}: ${explain(kind)}`;
  }

  /** @param {Extract<import('../environment.js').Auth, { mode: 'login' }>} auth */
  logIn(auth) {
    const form = { username: auth.username, password: auth.password };
    return http.post(this.url + auth.path, form, { timeout: SETUP_TIMEOUT, responseType: 'text' });
  }

  /** @param {import('k6/http').RefinedResponse<'text'>} response @returns {Session} */
  sessionFrom(response) {
    const seconds = Number(response.json('expires_in') ?? 0);
    const marginMs = Math.min(RENEW_BEFORE_MS, seconds * 200);
    const renewAt = seconds > 0 ? Date.now() + seconds * 1000 - marginMs : null;
    return { token: String(response.json('access_token')), renewAt, marginMs };
  }

  /** In setup(): a session for all VUs. @returns {Session} */
  signIn() {
    const { auth } = this.environment;
    if (auth.mode === 'none') return { token: null, renewAt: null, marginMs: 0 };
    if (auth.mode === 'token') return { token: auth.token, renewAt: null, marginMs: 0 };
    const response = this.logIn(auth);
    if (response.status === 401)
      stop(`pulsar: ${this.url} refused user ${auth.username}: wrong user name or password`);
    if (response.status !== 200) stop(this.problem('log-in', response));
    return this.sessionFrom(response);
  }

  /** The session of setup(), or the newer one of this VU. @param {Session} session @returns {Session} */
  current(session) {
    return this.renewed ?? session;
  }

  /**
   * Logs in anew where the token is about to end. Called between requests, so that
   * it is in no latency; each VU at a time of its own, so that they do not all come
   * at once. After a failure the old token goes on until the relay refuses it,
   * which is then counted as 401.
   * @param {Session} session
   */
  renewIfDue(session) {
    const own = this.current(session);
    const { auth } = this.environment;
    if (own.renewAt === null || auth.mode !== 'login') return;
    if (Date.now() < own.renewAt + this.jitter * own.marginMs) return;
    const response = this.logIn(auth);
    this.renewed =
      response.status === 200 ? this.sessionFrom(response) : { ...own, renewAt: Date.now() + RETRY_LOGIN_MS };
  }

  /** @param {Session} session @param {'none' | 'text'} responseType @param {string | number} timeout */
  params(session, responseType, timeout) {
    return { headers: { ...JSON_TYPE, ...bearer(session) }, responseType, timeout };
  }

  /** The same, made once for each token: they are needed for every request of the load. @param {Session} session */
  load(session) {
    if (this.loadParams?.token === session.token) return this.loadParams;
    this.loadParams = {
      token: session.token,
      none: this.params(session, 'none', LOAD_TIMEOUT_MS),
      text: this.params(session, 'text', LOAD_TIMEOUT_MS),
    };
    return this.loadParams;
  }

  /**
   * In setup(): makes topics, and removes those already made where one fails.
   * @param {Session} session
   * @param {string[]} topics
   * @param {string[]} [earlier] made before
   */
  createTopics(session, topics, earlier = []) {
    if (topics.length === 0) return undefined;
    const params = this.params(session, 'text', SETUP_TIMEOUT);
    if (this.environment.topics === 'implicit')
      return earlier.length === 0 ? this.checkPublish(session, topics[0]) : undefined;
    for (const [index, topic] of topics.entries()) {
      const response = http.post(`${this.url}/api/v1/topics`, JSON.stringify({ topic_name: topic }), params);
      if (response.status === 201) continue;
      this.removeTopics(session, [...earlier, ...topics.slice(0, index)]);
      stop(this.problem('making a topic', response));
    }
    return undefined;
  }

  /** A relay without a topic API is only proved by a message. @param {Session} session @param {string} topic */
  checkPublish(session, topic) {
    const response = this.publish(session, messageBody(topic, '"probe":true'));
    if (response.status >= 300 || response.status === 0) stop(this.problem('first message', response));
  }

  /** In teardown(): counts in the result what could not be removed. @param {Session} session @param {string[]} topics */
  removeTopics(session, topics) {
    if (this.environment.topics === 'managed') reportLeft(this.remove(session, topics));
  }

  /** Removes what a run made, by its id. @param {Session} session @param {string} runId @returns {number} what is left */
  removeRun(session, runId) {
    if (this.environment.topics === 'implicit') return 0;
    const response = http.get(`${this.url}/api/v1/topics`, this.params(session, 'text', SETUP_TIMEOUT));
    if (response.status !== 200) return stop(this.problem('listing topics', response));
    const names = /** @type {any[]} */ (/** @type {unknown} */ (response.json())).map(
      (topic) => topic.topic_name,
    );
    const prefix = topicPrefix(runId);
    return this.remove(
      session,
      names.filter((name) => name.startsWith(prefix)),
    );
  }

  /** @param {Session} session @param {string[]} topics @returns {number} how many could not be removed */
  remove(session, topics) {
    const params = this.params(session, 'none', SETUP_TIMEOUT);
    const removed = topics.filter((topic) => {
      const { status } = http.del(`${this.url}/api/v1/topics/${topic}`, null, params);
      return status === 204 || status === 200 || status === 404;
    });
    return topics.length - removed.length;
  }

  /** Opens this VU's connection outside of the measurement. */
  connect() {
    http.get(`${this.url}/health`, { responseType: 'none', timeout: SETUP_TIMEOUT });
  }

  /** The same, where this VU has not had one. */
  connectOnce() {
    if (!this.connected) this.connect();
    this.connected = true;
  }

  /** In setup(): signs in and prepares topics. @param {string[]} topics @returns {Opened} */
  open(topics) {
    const session = this.signIn();
    this.prepare(session, topics);
    return { session, topics };
  }

  /** In teardown(). @param {Opened} opened */
  close({ session, topics }) {
    this.removeTopics(this.current(session), topics);
  }

  /**
   * In setup(): makes the topics, the first of them early for messages that are not
   * measured, so that the relay's first-use costs are not measured either, and so
   * that an interrupt meets few topics: k6 runs no teardown for a set-up that it cut.
   * @param {Session} session
   * @param {string[]} topics
   */
  prepare(session, topics) {
    this.createTopics(session, topics.slice(0, 1));
    const until = Date.now() + WARMUP_MOST_MS;
    for (let index = 0; index < WARMUP_MESSAGES && Date.now() < until; index += 1) {
      this.publish(session, messageBody(topics[0], '"warmup":true'));
    }
    this.createTopics(session, topics.slice(1), topics.slice(0, 1));
  }

  /** @param {Session} session @param {string} body of messageBody() */
  publish(session, body) {
    return http.post(`${this.url}/api/v1/messages`, body, this.load(session).none);
  }

  /** @param {Session} session @param {string} body of messageBody() */
  publishAsync(session, body) {
    return http.asyncRequest('POST', `${this.url}/api/v1/messages`, body, this.load(session).none);
  }

  /** @param {Session} session @param {string[]} bodies of messageBody(), at most 100 */
  publishBulk(session, bodies) {
    return http.post(
      `${this.url}/api/v1/messages/bulk`,
      `{"messages":[${bodies.join(',')}]}`,
      this.load(session).text,
    );
  }

  /**
   * Long-polls topics that exist.
   * @param {Session} session
   * @param {string[]} topics at most 20
   * @param {number} waitSeconds 1 to 60, whole
   */
  pollAsync(session, topics, waitSeconds) {
    const body = JSON.stringify({ topics, timeout: waitSeconds });
    return http.asyncRequest(
      'POST',
      `${this.url}/messages/poll`,
      body,
      this.params(session, 'text', `${waitSeconds + 10}s`),
    );
  }
}

/**
 * A message as the relay takes it.
 * @param {string} topic
 * @param {string} fields of the payload object, as JSON without its braces
 */
export const messageBody = (topic, fields) => `{"topic":"${topic}","payload":{${fields}}}`;

/** Filler for payloads of a given size in bytes. @param {number} bytes */
export const filler = (bytes) => `"text":"${'x'.repeat(bytes)}"`;

/** What the names of a run's topics begin with: letters, digits, - and _ only. @param {string} runId */
const topicPrefix = (runId) => `${runId.replace(/[^A-Za-z0-9_-]/g, '-')}-`;

/** Names for a run's topics. @param {string} runId @param {string} scenario @param {number} count */
export const topicNames = (runId, scenario, count) =>
  Array.from({ length: count }, (_, index) => `${topicPrefix(runId)}${scenario}-${index}`);
