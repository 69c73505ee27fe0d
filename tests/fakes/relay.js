/**
 * A relay of known faults. It speaks the part of the Pulsar relay's protocol that the scenarios use. Its options make it delay,
 * stall, fail, drop and duplicate. It keeps the truth, so that a test can compare a result with it.
 */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { Restarts } from './relay-restart.js';
import { Stall } from './stall.js';

/**
 * @typedef {OwnFaults & import('./relay-restart.js').RestartFaults} Faults
 * @typedef {object} OwnFaults
 * @property {number} [delayMs] before each answer to a publish, poll answer or delivery.
 * @property {{ afterPublishes: number } & import('./stall.js').Length} [stall] after this number of publishes, or laterMs later, it answers nothing for `ms`.
 * @property {{ every: number, status: number }} [publishError] each nth publish gets this status.
 * @property {string} [refuseAgent] publishes of a client with this user agent get a 403.
 * @property {number} [capacityPerSecond] most publishes a second; it serves them one after the other.
 * @property {number} [garbledEvery] each nth bulk or poll answer is malformed.
 * @property {number} [resetEvery] each nth publish has its connection cut.
 * @property {number} [rejectEvery] each nth message of batches is rejected.
 * @property {number} [dropEvery] each nth delivery is not sent.
 * @property {number} [duplicateEvery] each nth delivery is sent twice.
 * @property {number} [duplicateAfterMs] delay of the second delivery.
 * @property {number} [swapEvery] each nth delivery is sent after the next one.
 * @property {{ after: number, code: number, reason?: string }} [closeAfter] closes the socket after this number of deliveries.
 * @property {{ statuses: number[], headers?: Record<string, string> }} [handshake] the answers to WebSocket handshakes, in turn. Each comes
 *   twice: a refused client asks again for the status.
 * @property {number[]} [publishStatuses] of accepted publishes, in turn; 201 unless given.
 * @property {{ status: number, to: string, afterPublishes: number }} [redirect] of the publishes after the first ones.
 * @property {number} [restartAfter] publishes after which it forgets all tokens.
 * @property {string} [loginSays] the whole answer to a log-in.
 * @property {number} [keepAliveMs] longest idle time of a connection: it cuts the connection then, and reads no further request.
 * @property {'none' | 'query' | 'subprotocol'} [websocketAuth] none unless given.
 * @property {string} [token] wanted in Authorization, if given.
 * @property {number} [tokenSeconds] its life, as a log-in reports it.
 */

/** @typedef {Awaited<ReturnType<typeof startRelay>>} FakeRelay */

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {import('node:http').IncomingMessage} request @returns {Promise<string>} */
async function bodyOf(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

class Relay {
  /** @param {Faults} faults */
  constructor(faults) {
    this.faults = faults;
    this.truth = {
      publishes: 0,
      failed: 0,
      reset: 0,
      messages: 0,
      rejected: 0,
      deliveries: 0,
      mostSubscribers: 0,
      dropped: 0,
      duplicated: 0,
      /** Milliseconds from having read a publish to answering it, measured here. */
      /** @type {number[]} */ served: [],
      /** Single messages as they came: performance.now() once they were read, and their payload. */
      /** @type {{ at: number, payload: Record<string, unknown> }[]} */ arrivals: [],
      topics: new Set(),
      topicsEver: 0,
      logins: 0,
      idleCut: 0,
    };
    /** @type {Map<import('ws').WebSocket, { topics: string[], sent: number, held: string | undefined }>} */
    this.sockets = new Map();
    /** @type {{ topics: string[], wake: (message: object) => void }[]} */
    this.waiters = [];
    this.stall = new Stall();
    this.restarts = new Restarts(faults);
    this.freeAt = 0;
    this.answers = 0;
    /** When each connection was last used. @type {WeakMap<object, number>} */
    this.used = new WeakMap();
  }

  /** Every nth call is true. @param {number | undefined} every @param {number} count */
  static nth(every, count) {
    return every !== undefined && count % every === 0;
  }

  async pause() {
    const { delayMs = 0 } = this.faults;
    if (delayMs > 0) await sleep(delayMs);
    await this.stall.pass();
  }

  /** Waits for the next free slot of a server of limited capacity. */
  async slot() {
    const { capacityPerSecond } = this.faults;
    if (!capacityPerSecond) return;
    const at = Math.max(performance.now(), this.freeAt);
    this.freeAt = at + 1000 / capacityPerSecond;
    if (at > performance.now()) await sleep(at - performance.now());
  }

  /** Whether to garble this answer. */
  garbles() {
    this.answers += 1;
    return Relay.nth(this.faults.garbledEvery, this.answers);
  }

  /** @param {{ topic: string, payload: object }} message */
  deliver(message) {
    const frame = JSON.stringify({ type: 'message', ...message });
    for (const [socket, state] of this.sockets) {
      if (!state.topics.includes(message.topic)) continue;
      this.sendTo(socket, state, frame);
    }
    for (const waiter of this.waiters.filter(({ topics }) => topics.includes(message.topic)))
      waiter.wake(message);
  }

  /** @param {import('ws').WebSocket} socket @param {{ sent: number, held: string | undefined }} state @param {string} frame */
  sendTo(socket, state, frame) {
    const { faults, truth } = this;
    truth.deliveries += 1;
    state.sent += 1;
    if (Relay.nth(faults.dropEvery, truth.deliveries)) {
      truth.dropped += 1;
      return;
    }
    if (Relay.nth(faults.swapEvery, state.sent)) {
      state.held = frame;
      return;
    }
    for (let copy = this.restarts.copies(); copy > 0; copy -= 1) socket.send(frame);
    if (Relay.nth(faults.duplicateEvery, truth.deliveries)) {
      truth.duplicated += 1;
      if (faults.duplicateAfterMs) setTimeout(() => socket.send(frame), faults.duplicateAfterMs);
      else socket.send(frame);
    }
    if (state.held) socket.send(state.held);
    state.held = undefined;
    if (faults.closeAfter && state.sent >= faults.closeAfter.after)
      socket.close(faults.closeAfter.code, faults.closeAfter.reason);
  }

  /** Redirects a publish, if this fault is set. @param {import('node:http').ServerResponse} response */
  redirects(response) {
    const { redirect } = this.faults;
    if (!redirect || this.truth.publishes < redirect.afterPublishes) return false;
    response.writeHead(redirect.status, { Location: redirect.to }).end();
    return true;
  }

  /** @param {string} text @param {import('node:http').ServerResponse} response @param {string} [agent] */
  async publish(text, response, agent) {
    const { faults, truth } = this;
    const { publishStatuses = [201] } = faults;
    if (agent && agent === faults.refuseAgent) {
      response.writeHead(403).end('{}');
      return;
    }
    const readAt = performance.now();
    truth.publishes += 1;
    const count = truth.publishes;
    if (faults.stall && count === faults.stall.afterPublishes) this.stall.begin(faults.stall);
    await this.slot();
    await this.pause();
    await this.restarts.pass(() => this.sockets.keys());
    if (Relay.nth(faults.resetEvery, count)) {
      truth.reset += 1;
      response.socket?.resetAndDestroy();
      return;
    }
    if (faults.publishError && Relay.nth(faults.publishError.every, count)) {
      truth.failed += 1;
      response.writeHead(faults.publishError.status).end('{}');
      return;
    }
    truth.messages += 1;
    const message = JSON.parse(text);
    // As in the real relay, a message makes its topic. A waiting message is not stored if its client has disconnected.
    if (!response.socket?.destroyed) truth.topics.add(message.topic);
    truth.arrivals.push({ at: readAt, payload: message.payload });
    this.deliver(message);
    response
      .writeHead(publishStatuses[count % publishStatuses.length], { 'Content-Type': 'application/json' })
      .end('{"message_id":"1"}');
    truth.served.push(performance.now() - readAt);
  }

  /** @param {string} text @param {import('node:http').ServerResponse} response */
  async publishBulk(text, response) {
    const { messages } = JSON.parse(text);
    await this.pause();
    let rejected = 0;
    for (let index = 0; index < messages.length; index += 1) {
      this.truth.messages += 1;
      if (Relay.nth(this.faults.rejectEvery, this.truth.messages)) rejected += 1;
    }
    this.truth.rejected += rejected;
    if (this.garbles()) {
      response.writeHead(207).end('<html>');
      return;
    }
    const summary = { total: messages.length, accepted: messages.length - rejected, rejected };
    response
      .writeHead(207, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ results: [], summary }));
  }

  /** @param {string} text @param {import('node:http').ServerResponse} response */
  async poll(text, response) {
    const { topics, timeout } = JSON.parse(text);
    const messages = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve([]), timeout * 1000);
      const waiter = {
        topics,
        wake: async (/** @type {object} */ message) => {
          this.waiters = this.waiters.filter((other) => other !== waiter);
          clearTimeout(timer);
          await this.pause();
          resolve([message]);
        },
      };
      this.waiters.push(waiter);
    });
    const body = this.garbles() ? {} : { messages };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  }

  /** The token that is valid now. */
  token() {
    const { token, restartAfter = Infinity } = this.faults;
    return this.truth.publishes >= restartAfter ? `${token}-renewed` : token;
  }

  /** Whether the relay accepts the credentials of a request. @param {string | undefined} authorization */
  knows(authorization) {
    return !this.faults.token || authorization === `Bearer ${this.token()}`;
  }

  /** Whether a connection was idle for too long, which ends it. @param {any} socket */
  endsIdle(socket) {
    const { keepAliveMs } = this.faults;
    const last = this.used.get(socket) ?? Infinity;
    this.used.set(socket, performance.now());
    if (!keepAliveMs || performance.now() - last < keepAliveMs) return false;
    this.truth.idleCut += 1;
    socket.resetAndDestroy();
    return true;
  }

  /** @param {import('node:http').ServerResponse} response */
  logIn(response) {
    this.truth.logins += 1;
    const { loginSays, tokenSeconds = 600 } = this.faults;
    if (loginSays !== undefined) return response.end(loginSays);
    return response.end(JSON.stringify({ access_token: this.token(), expires_in: tokenSeconds }));
  }

  /** @param {string} method @param {string} path @param {string} text @param {import('node:http').ServerResponse} response */
  topics(method, path, text, response) {
    if (method === 'GET') {
      return response.end(JSON.stringify([...this.truth.topics].map((name) => ({ topic_name: name }))));
    }
    if (method === 'POST') {
      this.truth.topics.add(JSON.parse(text).topic_name);
      this.truth.topicsEver += 1;
      return response.writeHead(201).end('{}');
    }
    this.truth.topics.delete(path.split('/').at(-1));
    return response.writeHead(204).end();
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async handle(request, response) {
    const { method = '', url = '' } = request;
    const text = await bodyOf(request);
    if (this.endsIdle(request.socket)) return undefined;
    if (url === '/health') return response.end('{"status":"healthy"}');
    if (url === '/auth/login') return this.logIn(response);
    if (!this.knows(request.headers.authorization)) return response.writeHead(401).end('{}');
    if (url.startsWith('/api/v1/topics')) return this.topics(method, url, text, response);
    if (url === '/api/v1/messages/bulk') return this.publishBulk(text, response);
    if (url === '/api/v1/messages')
      return this.redirects(response) || this.publish(text, response, request.headers['user-agent']);
    if (url === '/messages/poll') return this.poll(text, response);
    return response.writeHead(404).end('{}');
  }

  /** @param {import('node:http').IncomingMessage} request */
  admits(request) {
    const { websocketAuth = 'none', token = '' } = this.faults;
    if (websocketAuth === 'query')
      return new URL(request.url ?? '', 'http://relay').searchParams.get('token') === token;
    if (websocketAuth === 'subprotocol') {
      const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
      return offered.includes('bearer') && offered.includes(`bearer.${token}`);
    }
    return true;
  }

  /** @param {import('ws').WebSocket} socket */
  join(socket) {
    socket.on('message', async (data) => {
      const frame = JSON.parse(String(data));
      if (frame.type !== 'subscribe') return;
      await this.pause();
      this.sockets.set(socket, { topics: frame.topics, sent: 0, held: undefined });
      this.truth.mostSubscribers = Math.max(this.truth.mostSubscribers, this.sockets.size);
      socket.send(JSON.stringify({ type: 'subscribed', topics: frame.topics }));
    });
    socket.on('close', () => this.sockets.delete(socket));
  }
}

/**
 * @param {Faults} [faults]
 */
export async function startRelay(faults = {}) {
  const relay = new Relay(faults);
  const server = createServer((request, response) => {
    if (request.url === '/restart') response.writeHead(204).end(() => relay.restarts.begin(connections));
    else void relay.handle(request, response);
  });
  server.keepAliveTimeout = 30_000;
  /** @type {Set<import('node:net').Socket>} */
  const connections = new Set();
  server.on('connection', (socket) => {
    if (relay.restarts.down) return socket.resetAndDestroy();
    connections.add(socket);
    return socket.on('close', () => connections.delete(socket));
  });
  let refused = 0;
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'bearer' });
  server.on('upgrade', (request, socket, head) => {
    const { handshake } = faults;
    if (handshake) {
      const headers = Object.entries(handshake.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
      const status = handshake.statuses[Math.floor(refused / 2) % handshake.statuses.length];
      refused += 1;
      return socket.end(`HTTP/1.1 ${status} Told\r\nContent-Length: 0\r\n${headers.join('')}\r\n`);
    }
    if (!relay.admits(request)) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    return sockets.handleUpgrade(request, socket, head, (opened) => relay.join(opened));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    truth: relay.truth,
    restarts: relay.restarts.truth,
    async stop() {
      // The server does not close the connection of a refused handshake, and waits for it in vain.
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
