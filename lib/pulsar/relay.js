/**
 * A client of a Pulsar-style message relay: log-in, topics, publishing and polling over HTTP. A failed set-up call ends the
 * run with a one-line message. A load call returns the response, which the scenario judges.
 */
import http from 'k6/http';
import { errorIn, isAccepted, partOf, redirectOf, saidIn, shown } from '../answers.js';
import { triedAt, whyNone } from '../environment.js';
import { explain, ofResponse } from '../errors.js';
import { stop } from '../execution.js';
import { idOfRun } from '../identity.js';
import { tellLeft } from '../leftovers.js';
import { Login } from '../login.js';
import { connected, sentAsync } from '../requests.js';
import { requestTimeoutMs } from '../variables.js';

/** @typedef {import('../environment.js').SystemEnvironment} SystemEnvironment */
/**
 * @typedef {import('../login.js').Session} Session
 * @typedef {{ session: Session, topics: string[] }} Opened
 * @typedef {Opened & import('../scenario.js').Begun} Data what setup() returns
 */

const JSON_TYPE = { 'Content-Type': 'application/json' };
const SETUP_TIMEOUT = '10s';
/** Milliseconds as a number: k6 would parse a text again for each request. */
const LOAD_TIMEOUT_MS = requestTimeoutMs('pulsar');
/** WebSocket failures that an expired token can cause. */
const TOKEN_FAULTS = ['ws_http_401', 'ws_http_403', 'ws_close_1008', 'ws_close_other'];
const WARMUP_MESSAGES = 20;
const WARMUP_MOST_MS = 10_000;

/** @typedef {import('k6/http').RefinedResponse<any>} Response */

export class Relay {
  /** @param {SystemEnvironment} environment */
  constructor(environment) {
    this.environment = environment;
    this.url = environment.url;
    this.login = new Login('pulsar', environment, (what, response) => this.problem(what, response));
    this.connected = false;
    /** Cached k6 request parameters by response type, valid for one token. */
    /** @type {{ token: string | null, none: any, text: any } | undefined} */
    this.loadParams = undefined;
  }

  /** The message for a failed set-up request. @param {string} what @param {import('k6/http').RefinedResponse<any>} response */
  problem(what, response) {
    const kind = ofResponse(response);
    if (kind === 'connection_refused')
      return `pulsar: ${this.url} refused the connection${triedAt(this.environment.connection)}: is the relay running there?`;
    if (response.status === 0)
      return `pulsar: ${this.url} ${what}: ${whyNone(this.url, { error: errorIn(response) })}`;
    if (response.status === 400 && /host/i.test(String(response.body))) {
      return `pulsar: ${this.url} refused its own host name (400): put it into the relay's PULSAR_TRUSTED_HOSTS`;
    }
    const target = redirectOf(response);
    if (target !== undefined)
      return `pulsar: ${this.url} ${what}: HTTP ${response.status} to ${target}: redirects are not followed: put that address into the environment's url`;
    const text = saidIn(response);
    if (isAccepted(response)) return `pulsar: ${this.url} ${what}: ${shown(response)}`;
    return `pulsar: ${this.url} ${what}: HTTP ${response.status}: ${explain(kind)}${text ? `: ${text}` : ''}`;
  }

  /** In setup(): a session for all VUs. @returns {Session} */
  signIn() {
    return this.login.signIn();
  }

  /** The session of setup(), or the newer one of this VU. @param {Session} session @returns {Session} */
  current(session) {
    return /** @type {Session} */ (this.login.current(session));
  }

  /** Logs in again, between requests, if the token expires soon. @param {Session} session */
  renewIfDue(session) {
    this.login.renewIfDue(session);
  }

  /**
   * Checks the token after a WebSocket was refused or closed, since the token may be the reason. The check is a request: if
   * the relay refuses the token, the request brings a new one.
   * @param {Session} session
   * @param {import('../errors.js').ErrorKind | null} failure
   */
  checkToken(session, failure) {
    if (failure === null || !TOKEN_FAULTS.includes(failure) || !session.token) return;
    this.login.request(session, (token) =>
      http.get(`${this.url}/api/v1/topics`, this.params(token, 'text', SETUP_TIMEOUT)),
    );
  }

  /** @param {string | null} token @param {'none' | 'text'} responseType @param {string | number} timeout */
  params(token, responseType, timeout) {
    const headers = { ...JSON_TYPE, ...(token && { Authorization: `Bearer ${token}` }) };
    return { headers, responseType, timeout };
  }

  /** Cached params() for the requests of the load. @param {string | null} token */
  load(token) {
    if (this.loadParams?.token === token) return this.loadParams;
    this.loadParams = {
      token,
      none: this.params(token, 'none', LOAD_TIMEOUT_MS),
      text: this.params(token, 'text', LOAD_TIMEOUT_MS),
    };
    return this.loadParams;
  }

  /**
   * In setup(): creates topics. If one fails, removes those created before and ends the run.
   * @param {Session} session
   * @param {string[]} topics
   * @param {string[]} [earlier] topics created before
   */
  createTopics(session, topics, earlier = []) {
    if (topics.length === 0) return undefined;
    const params = this.params(this.current(session).token, 'text', SETUP_TIMEOUT);
    if (this.environment.topics === 'implicit')
      return earlier.length === 0 ? this.checkPublish(session, topics[0]) : undefined;
    for (const [index, topic] of topics.entries()) {
      const response = http.post(`${this.url}/api/v1/topics`, JSON.stringify({ topic_name: topic }), params);
      if (isAccepted(response)) continue;
      this.removeTopics(session, [...earlier, ...topics.slice(0, index)]);
      stop(this.problem('making a topic', response));
    }
    return undefined;
  }

  /** Checks a relay without a topic API, which only a message can do. @param {Session} session @param {string} topic */
  checkPublish(session, topic) {
    const response = this.publish(session, messageBody(topic, '"probe":true'));
    if (!isAccepted(response)) stop(this.problem('first message', response));
  }

  /** In teardown(): removes topics, and reports how many are left. @param {Session} session @param {string[]} topics */
  removeTopics(session, topics) {
    if (this.environment.topics !== 'managed') return;
    const left = this.remove(session, topics);
    tellLeft('pulsar', idOfRun(), `topics of run ${idOfRun()}`, left);
  }

  /** Removes the topics of a run, by its id. @param {Session} session @param {string} runId @returns {number} number of topics left */
  removeRun(session, runId) {
    if (this.environment.topics === 'implicit') return 0;
    const response = this.login.request(session, (token) =>
      http.get(`${this.url}/api/v1/topics`, this.params(token, 'text', SETUP_TIMEOUT)),
    );
    const topics = isAccepted(response) ? partOf(response) : undefined;
    if (!Array.isArray(topics) || topics.some((topic) => typeof topic?.topic_name !== 'string'))
      return stop(`${this.problem('listing topics', response)}: nothing was removed`);
    const prefix = topicPrefix(runId);
    return this.remove(
      session,
      topics.map((topic) => topic.topic_name).filter((name) => name.startsWith(prefix)),
    );
  }

  /** @param {Session} session @param {string[]} topics @returns {number} how many could not be removed */
  remove(session, topics) {
    const removed = topics.filter((topic) => {
      const response = this.login.request(session, (token) =>
        http.del(`${this.url}/api/v1/topics/${topic}`, null, this.params(token, 'none', SETUP_TIMEOUT)),
      );
      return isAccepted(response) || response.status === 404;
    });
    return topics.length - removed.length;
  }

  /** Opens this VU's connection before the measurement. */
  connect() {
    connected(http.get(`${this.url}/health`, { responseType: 'none', timeout: SETUP_TIMEOUT }));
  }

  /** Opens this VU's connection, unless it is open already. */
  connectOnce() {
    if (!this.connected) this.connect();
    this.connected = true;
  }

  /** In setup(): logs in and prepares topics. @param {string[]} topics @returns {Opened} */
  open(topics) {
    const session = this.signIn();
    this.prepare(session, topics);
    return { session, topics };
  }

  /** In teardown(): removes the topics. @param {Opened} opened */
  close({ session, topics }) {
    this.removeTopics(this.current(session), topics);
  }

  /**
   * In setup(): creates the topics. The first topic gets warm-up messages before the others exist. So first-use costs of the
   * relay are not measured, and an interrupt leaves few topics: k6 runs no teardown() after an interrupted setup().
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
    return this.login.request(session, (token) =>
      http.post(`${this.url}/api/v1/messages`, body, this.load(token).none),
    );
  }

  /** @param {Session} session @param {string} body of messageBody() */
  publishAsync(session, body) {
    return this.login.requestAsync(session, (token) =>
      sentAsync(() => http.asyncRequest('POST', `${this.url}/api/v1/messages`, body, this.load(token).none)),
    );
  }

  /** @param {Session} session @param {string[]} bodies of messageBody(), at most 100 */
  publishBulk(session, bodies) {
    const body = `{"messages":[${bodies.join(',')}]}`;
    return this.login.request(session, (token) =>
      http.post(`${this.url}/api/v1/messages/bulk`, body, this.load(token).text),
    );
  }

  /**
   * Long-polls existing topics.
   * @param {Session} session
   * @param {string[]} topics at most 20
   * @param {number} waitSeconds 1 to 60, whole
   */
  pollAsync(session, topics, waitSeconds) {
    const body = JSON.stringify({ topics, timeout: waitSeconds });
    return this.login.requestAsync(session, (token) =>
      sentAsync(() =>
        http.asyncRequest(
          'POST',
          `${this.url}/messages/poll`,
          body,
          this.params(token, 'text', `${waitSeconds + 10}s`),
        ),
      ),
    );
  }
}

/**
 * The JSON of a message.
 * @param {string} topic
 * @param {string} fields of the payload object, as JSON without its braces
 */
export const messageBody = (topic, fields) => `{"topic":"${topic}","payload":{${fields}}}`;

/** A payload field with a text of a given length. @param {number} bytes */
export const filler = (bytes) => `"text":"${'x'.repeat(bytes)}"`;

/** Common prefix of a run's topic names, which may have only letters, digits, - and _. @param {string} runId */
const topicPrefix = (runId) => `${runId.replace(/[^A-Za-z0-9_-]/g, '-')}-`;

/** Names for a run's topics. @param {string} runId @param {string} scenario @param {number} count */
export const topicNames = (runId, scenario, count) =>
  Array.from({ length: count }, (_, index) => `${topicPrefix(runId)}${scenario}-${index}`);
