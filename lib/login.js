/**
 * How the clients of the relay and of the panel authenticate: with a log-in form that returns a bearer token or sets a cookie, or
 * with a configured token.
 *
 * | metric   | type    | unit  | what                                                     |
 * |----------|---------|-------|----------------------------------------------------------|
 * | relogins | counter | count | log-ins after the system refused the token (401)         |
 */
import encoding from 'k6/encoding';
import http from 'k6/http';
import { Counter, once, said, say } from 'k6/x/windtunnel/record';
import { attempt } from './attempt.js';
import { isAccepted, partOf, shown } from './answers.js';
import { ofResponse } from './errors.js';
import { stop } from './execution.js';

/**
 * @typedef {object} Session
 * @property {string | null} token
 * @property {number | null} renewAt Date.now() at which a VU logs in again; null: never
 * @property {number} marginMs how long the token stays valid after `renewAt`, ms
 *
 * @typedef {import('k6/http').RefinedResponse<'text'>} Response
 * @typedef {Extract<import('./environment.js').Auth, { mode: 'login' }>} LoginAuth
 */

const UNAUTHORIZED = 401;
const TIMEOUT_MS = 30_000;
/** A token is renewed this long before it expires, or after 80 % of a shorter life, so that no request uses an expired token. */
const RENEW_BEFORE_MS = 60_000;
/** Delay of the next try after a failed log-in, ms. */
const RETRY_LOGIN_MS = 30_000;
/** The longest run with a fixed number of requests (lib/profiles.js), s. */
const LONGEST_FIXED_S = 600;
/** Name of the note on a configured token. */
const TOKEN_NOTE = 'token';

const relogins = new Counter('relogins');

/** Duration of this run's load, s; 0: unknown. */
let loadSeconds = 0;

/** Call before signIn(). @param {number} seconds duration of the load; 0: a fixed number of requests ends the load */
export function expectLoad(seconds) {
  loadSeconds = seconds;
}

/** When a JSON Web Token expires, ms since 1970; null if the token does not say. @param {string} token */
export const endOf = (token) =>
  attempt(() => {
    const { exp } = JSON.parse(
      /** @type {string} */ (encoding.b64decode(token.split('.')[1], 'rawurl', 's')),
    );
    return Number.isFinite(exp) ? exp * 1000 : null;
  }, null);

/** The session of a token. The answer to the log-in gives its life in seconds; else the token itself may say when it expires. @param {string} token @param {unknown} lifeSeconds @returns {Session} */
function sessionOf(token, lifeSeconds) {
  const life = Number(lifeSeconds ?? 0) * 1000;
  const endsAt = life > 0 ? Date.now() + life : endOf(token);
  if (endsAt === null || endsAt <= Date.now()) return { token, renewAt: null, marginMs: 0 };
  const marginMs = Math.min(RENEW_BEFORE_MS, (endsAt - Date.now()) / 5);
  return { token, renewAt: endsAt - marginMs, marginMs };
}

/** Notes on tokens. @param {import('k6/x/windtunnel/record').Metrics} metrics @returns {string[]} */
export function aboutTokens({ relogins: again }) {
  const count = again?.values.count ?? 0;
  const note = said()[TOKEN_NOTE];
  return [
    ...(note ? [note] : []),
    ...(count > 0
      ? [`the token expired in mid-run (401): logged in again, ${count} times in all, clean-up included`]
      : []),
  ];
}

export class Login {
  /**
   * @param {string} system
   * @param {{ url: string, auth: import('./environment.js').Auth }} environment
   * @param {(what: string, response: Response) => string} problem the message for a failed request
   */
  constructor(system, { url, auth }, problem) {
    this.system = system;
    this.url = url;
    this.auth = auth;
    this.problem = problem;
    /** The system refused a new token, so another log-in would not help. */
    this.hopeless = false;
    /** The session of this VU, after it logged in again. @type {Session | undefined} */
    this.renewed = undefined;
    /** Share of the margin by which this VU waits, so that the VUs do not log in at once. */
    this.jitter = Math.random() / 2;
  }

  /** The session of setup(), or the newer one of this VU. @template {{ token: string | null }} S @param {S} session @returns {S | Session} */
  current(session) {
    return this.renewed ?? session;
  }

  /**
   * Sends a request. If the token is refused, logs in and sends the request once more.
   * @param {{ token: string | null }} session
   * @param {(token: string | null) => Response} send
   */
  request(session, send) {
    const first = send(this.current(session).token);
    if (first.status !== UNAUTHORIZED || !this.again()) return first;
    return this.second(send(this.current(session).token));
  }

  /** request() for an asynchronous request. @param {{ token: string | null }} session @param {(token: string | null) => Promise<Response>} send */
  async requestAsync(session, send) {
    const { token } = this.current(session);
    const first = await send(token);
    // Another request may have logged in meanwhile.
    const renewed = () => this.current(session).token !== token || this.again();
    if (first.status !== UNAUTHORIZED || !renewed()) return first;
    return this.second(await send(this.current(session).token));
  }

  /** Notes whether the system refused a new token. @param {Response} response */
  second(response) {
    if (response.status === UNAUTHORIZED) this.hopeless = true;
    return response;
  }

  /** @param {LoginAuth} auth */
  post(auth) {
    const form = { username: auth.username, password: auth.password };
    return http.post(this.url + auth.path, form, { timeout: TIMEOUT_MS, responseType: 'text' });
  }

  /** @param {Response} response @returns {Session | null} null if the answer has no token */
  sessionFrom(response) {
    if (!isAccepted(response)) return null;
    const { cookie } = /** @type {LoginAuth} */ (this.auth);
    const token = cookie ? response.cookies[cookie]?.[0]?.value : partOf(response, 'access_token');
    return typeof token === 'string' && token !== ''
      ? sessionOf(token, partOf(response, 'expires_in'))
      : null;
  }

  /** In setup(): a session for all VUs. A failed log-in aborts the run. @returns {Session} */
  signIn() {
    const { auth, system, url } = this;
    if (auth.mode === 'none') return { token: null, renewAt: null, marginMs: 0 };
    if (auth.mode === 'token') return this.given(auth);
    const response = this.post(auth);
    if (response.status === UNAUTHORIZED)
      stop(`${system}: ${url} refused user ${auth.username}: wrong user name or password`);
    if (!isAccepted(response)) stop(this.problem('log-in', response));
    return (
      this.sessionFrom(response) ??
      stop(
        auth.cookie
          ? `${system}: ${url}${auth.path}: the answer to the log-in sets no cookie ${auth.cookie}: ${shown(response)}: check user name, password and login_path`
          : `${system}: ${url}${auth.path}: the answer to the log-in holds no access_token: ${shown(response)}: check login_path of the environment`,
      )
    );
  }

  /** The session of a configured token, which cannot be renewed. @param {Extract<import('./environment.js').Auth, { mode: 'token' }>} auth @returns {Session} */
  given({ token, variable }) {
    const endsAt = endOf(token);
    const session = { token, renewAt: null, marginMs: 0 };
    if (endsAt === null) return session;
    const moment = new Date(endsAt).toISOString();
    if (endsAt <= Date.now())
      stop(`${this.system}: the token in ${variable} ended at ${moment}: make a new one`);
    if (endsAt > Date.now() + (loadSeconds || LONGEST_FIXED_S) * 1000) return session;
    const line = `${this.system}: the token in ${variable} ends at ${moment}, ${loadSeconds ? 'before the run does' : 'perhaps before the run does'}: requests after that will be refused (401)`;
    console.warn(line);
    say(TOKEN_NOTE, line);
    return session;
  }

  /** Logs in again after a 401. @returns {boolean} whether there is a new session */
  again() {
    const { auth } = this;
    if (this.hopeless || auth.mode !== 'login') return false;
    const response = this.post(auth);
    const session = this.sessionFrom(response);
    // Any other failure may be temporary: the next refused request tries again.
    this.hopeless = response.status === UNAUTHORIZED;
    if (!session) return this.reportOnce(response);
    relogins.add(1);
    this.renewed = session;
    return true;
  }

  /**
   * Logs in again if the token expires soon. It runs between requests, so no latency includes it. Each VU renews at a
   * different time. After a failure the VU keeps the old token until the system refuses it.
   * @param {Session} session of setup()
   */
  renewIfDue(session) {
    const latest = /** @type {Session} */ (this.current(session));
    if (latest.renewAt === null || this.auth.mode !== 'login') return;
    if (Date.now() < latest.renewAt + this.jitter * latest.marginMs) return;
    const response = this.post(this.auth);
    const renewed = this.sessionFrom(response);
    if (!renewed) this.reportOnce(response);
    this.renewed = renewed ?? { ...latest, renewAt: Date.now() + RETRY_LOGIN_MS };
  }

  /** Reports a failed log-in during the run, once per text. @param {Response} response */
  reportOnce(response) {
    const { path } = /** @type {LoginAuth} */ (this.auth);
    const line = `${this.system}: ${this.url}${path}: a log-in in mid-run failed (${ofResponse(response)}): ${shown(response)}`;
    if (once(line)) console.warn(line);
    return false;
  }
}
