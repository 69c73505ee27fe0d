/**
 * A user panel of known faults. It speaks the part of Marzban's API that the scenarios use. Its options make it delay, stall,
 * refuse, lose and lie. It keeps the truth, so that a test can compare a result with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Timings } from './panel-timings.js';
import { Users, objectOf, ok, refuse } from './panel-users.js';
import { serve } from './serve.js';
import { Stall } from './stall.js';

/** @typedef {import('./panel-timings.js').Operation} Operation */
/** @typedef {import('./panel-users.js').Request} Request */
/** @typedef {import('./panel-users.js').Answer} Answer */

/**
 * @typedef {object} ServerFaults
 * @property {string} [password] of admin; 'panel' unless given.
 * @property {number} [delayMs] before each answer except a log-in's; no part of the timings.
 * @property {{ afterRequests: number } & import('./stall.js').Length} [stall] after this number of requests, or laterMs later, it answers nothing for `ms`.
 * @property {number} [tokenRequests] requests for which a token is valid.
 * @property {boolean} [everyTokenDead] once a token is worn out, new tokens are refused as well.
 * @property {ConstructorParameters<typeof Timings>[0]} [timings] of each answer, or of the nth to an operation; none unless given.
 * @property {boolean} [serverTiming] whether answers carry the timings; true unless given.
 * @property {boolean} [prometheus] whether /metrics shows the timings.
 * @property {number} [goneAfter] creations after which it cuts every connection, like a killed panel.
 */

/** @typedef {ServerFaults & import('./panel-users.js').UserFaults} Faults */
/** @typedef {Awaited<ReturnType<typeof startPanel>>} FakePanel */

const LOGGING_MS = 5;

const OPERATIONS = /** @type {Record<string, Operation>} */ ({
  'POST /api/user': 'create',
  'GET /api/users': 'list',
  'GET /api/system': 'system',
  'GET /api/core': 'core',
  'POST /api/core/restart': 'restart',
  'GET /api/inbounds': 'inbounds',
  'GET /api/user/{username}': 'read',
  'PUT /api/user/{username}': 'enable',
  'DELETE /api/user/{username}': 'delete',
});

/** @param {Request} request @returns {Operation | undefined} */
function operationOf({ method, path, text }) {
  const route = path.replace(/^\/api\/user\/[^/]+$/, '/api/user/{username}');
  const operation = OPERATIONS[`${method} ${route}`];
  return operation === 'enable' && objectOf(text)?.status === 'disabled' ? 'disable' : operation;
}

class Panel {
  /** @param {Faults} faults */
  constructor(faults) {
    this.faults = faults;
    this.timings = new Timings(faults.timings);
    this.users = new Users(faults);
    this.truth = Object.assign(this.users.truth, {
      logins: 0,
      unauthorized: 0,
      /** Requests by operation, refused ones too. @type {Partial<Record<Operation, number>>} */
      requests: {},
      /** Answers with timings, by operation. */
      timed: this.timings.counts,
      /** Milliseconds from having read a request to answering it, measured here. @type {Partial<Record<Operation, number[]>>} */
      served: {},
    });
    /** Requests that each token was valid for. @type {Map<string, number>} */
    this.uses = new Map();
    this.wornOut = false;
    this.requests = 0;
    this.stall = new Stall();
  }

  async pause() {
    const { delayMs = 0, stall } = this.faults;
    this.requests += 1;
    if (stall && this.requests === stall.afterRequests) this.stall.begin(stall);
    if (delayMs > 0) await sleep(delayMs);
    await this.stall.pass();
  }

  /** @param {Request} request @returns {Answer} */
  logIn({ headers, text }) {
    this.truth.logins += 1;
    const form = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const fields = new URLSearchParams(form ? text : '');
    const missing = ['username', 'password'].filter((name) => !fields.has(name));
    if (missing.length > 0) {
      this.users.mistake('a log-in that is no form');
      return refuse(422, Object.fromEntries(missing.map((name) => [name, 'Field required'])));
    }
    if (fields.get('username') !== 'admin' || fields.get('password') !== (this.faults.password ?? 'panel'))
      return refuse(401, 'Incorrect username or password');
    const token = `token-${this.truth.logins}`;
    this.uses.set(token, 0);
    return ok({ access_token: token, token_type: 'bearer' });
  }

  /** Counts a use of a token. @param {string} token @returns {boolean} whether the token is valid */
  admits(token) {
    const uses = this.uses.get(token);
    if (uses === undefined || (this.wornOut && this.faults.everyTokenDead)) return false;
    if (uses >= (this.faults.tokenRequests ?? Infinity)) {
      this.wornOut = true;
      return false;
    }
    this.uses.set(token, uses + 1);
    return true;
  }

  /** @param {Operation} operation @param {Request} request @returns {Answer} */
  answer(operation, request) {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token && this.admits(token)) return this.users.answer(operation, request);
    this.truth.unauthorized += 1;
    return refuse(401, token ? 'Could not validate credentials' : 'Not authenticated');
  }

  /** @param {Operation} operation @param {Request} request @param {import('node:http').ServerResponse} response */
  async serve(operation, request, response) {
    const { truth } = this;
    const readAt = performance.now();
    truth.requests[operation] = (truth.requests[operation] ?? 0) + 1;
    await this.pause();
    const answer = this.answer(operation, request);
    const timed = answer.status !== 401 && !answer.reset;
    const durations = timed ? this.timings.next(operation) : [];
    if (durations.length > 0 && this.faults.serverTiming !== false)
      response.setHeader('Server-Timing', Timings.header(durations));
    send(response, answer);
    (truth.served[operation] ??= []).push(performance.now() - readAt);
  }

  /** The answer to a request that is no operation of the API. @param {Request} request @returns {Answer | undefined} */
  aside(request) {
    const { method, path } = request;
    if (method === 'POST' && path === '/api/admin/token') return this.logIn(request);
    if (this.faults.prometheus && path === '/metrics') return ok(this.timings.exposition());
    // A HEAD request opens a connection without any effect on the panel.
    return method === 'HEAD' ? refuse(405, 'Method Not Allowed') : this.users.subscription(request);
  }

  /** @param {Request} request @param {import('node:http').ServerResponse} response */
  async handle(request, response) {
    const { method, path } = request;
    const aside = this.aside(request);
    if (aside) return send(response, aside);
    const operation = operationOf(request);
    if (this.users.count.creates >= (this.faults.goneAfter ?? Infinity))
      return response.socket?.resetAndDestroy();
    if (operation) return this.serve(operation, request, response);
    this.users.mistake(`${method} ${path}`);
    const known = Object.keys(OPERATIONS).some((key) => key.split(' ')[1] === path);
    return send(
      response,
      known || path.startsWith('/api/user/') ? refuse(405, 'Method Not Allowed') : refuse(404, 'Not Found'),
    );
  }
}

/**
 * If the application crashed, uvicorn logs the reason and then closes the connection. The answer has no header for this: the client
 * may have sent its next request.
 * @param {import('node:net').Socket | null} socket
 */
function crash(socket) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOGGING_MS);
  socket?.destroy();
}

/** @param {import('node:http').ServerResponse} response @param {Answer} answer */
function send(response, { status, body, reset }) {
  if (reset) {
    response.socket?.resetAndDestroy();
    return;
  }
  const plain = typeof body === 'string';
  response.setHeader('Content-Type', plain ? 'text/plain; charset=utf-8' : 'application/json');
  const { socket } = response;
  const crashed = plain && status === 500;
  response.writeHead(status).end(plain ? body : JSON.stringify(body), () => crashed && crash(socket));
}

/** @param {import('node:http').IncomingMessage} incoming @returns {Promise<Request>} */
async function read(incoming) {
  const { method = '', url = '', headers } = incoming;
  let text = '';
  for await (const chunk of incoming) text += chunk;
  const { pathname, searchParams } = new URL(url, 'http://panel');
  return { method, path: pathname, query: searchParams, headers, text };
}

/** @param {Faults} [faults] */
export async function startPanel(faults = {}) {
  const panel = new Panel(faults);
  const server = await serve(
    (incoming, response) => {
      const aborted = () => response.destroy();
      void read(incoming).then((request) => panel.handle(request, response), aborted);
    },
    // The same time as uvicorn's.
    { keepAliveTimeout: 5_000 },
  );
  const { all, truth } = panel.users;
  return {
    ...server,
    truth: panel.truth,
    /** Names of all current users. */
    users: () => [...all.keys()],
    /** Names of created users that still exist. */
    left: () => [...all.keys()].filter((name) => truth.names.has(name)),
    /** @param {string} name */
    statusOf: (name) => all.get(name)?.status,
  };
}
