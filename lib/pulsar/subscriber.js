/**
 * A WebSocket client of a Pulsar-style relay. It connects, subscribes, and passes received messages on with the time at
 * which they were read from the socket.
 * https://grafana.com/docs/k6/latest/javascript-api/k6-websockets/
 */
import encoding from 'k6/encoding';
import http from 'k6/http';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'k6/timers';
import { WebSocket } from 'k6/websockets';
import { attempt } from '../attempt.js';
import { fromWall, now } from '../clock.js';
import { detailOf } from '../answers.js';
import { ofClose, ofHandshake, ofText } from '../errors.js';

const SUBSCRIBE_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2_000;
const ASK_TIMEOUT_MS = 5_000;
const HANDSHAKE_KEY = encoding.b64encode('windtunnel-again');
/** The relay disconnects a client that sends nothing for 60 s (PULSAR_WS_IDLE_SECONDS). */
const PING_EVERY_MS = 20_000;

/** @typedef {import('../errors.js').ErrorKind} ErrorKind */
/** @typedef {import('../environment.js').SystemEnvironment} SystemEnvironment */
/** @typedef {import('./relay.js').Session} Session */

/**
 * @typedef {object} Handlers
 * @property {(payload: any, receivedAt: number) => void} [message] receivedAt on now()'s clock
 * @property {(kind: ErrorKind, detail?: string) => void} [lost] called if the connection ends, or the relay sends an error, after the subscription
 *
 * @typedef {{ startedAt: number, endedAt: number, failure: ErrorKind | null, detail?: string }} Outcome of connecting and subscribing
 */

/** The WebSocket's URL and subprotocols, which may hold the token. @param {SystemEnvironment} environment @param {Session} session @returns {[string, string[]]} */
export function address(environment, session) {
  const { url, auth } = environment.websocket;
  if (!session.token || auth === 'none') return [url, []];
  if (auth === 'query') return [`${url}?token=${encodeURIComponent(session.token)}`, []];
  return [url, ['bearer', `bearer.${session.token}`]];
}

/** The frame that subscribes. @param {string} clientId @param {string[]} topics */
export const subscription = (clientId, topics) =>
  JSON.stringify({ type: 'subscribe', client_id: clientId, topics });

/** Parses a frame of the relay. A malformed frame has no type. @param {string} text @returns {any} */
const parse = (text) => attempt(() => JSON.parse(text), null) ?? {};

/**
 * Finds out why a handshake was refused. k6 does not give the answer, so the same handshake is sent again as a request.
 * @param {string} url of the WebSocket
 * @param {string[]} protocols
 * @returns {Promise<[ErrorKind, string]>}
 */
async function askAgain(url, protocols) {
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': HANDSHAKE_KEY,
    ...(protocols.length > 0 ? { 'Sec-WebSocket-Protocol': protocols.join(', ') } : {}),
  };
  const params = {
    headers,
    timeout: ASK_TIMEOUT_MS,
    responseType: /** @type {const} */ ('none'),
    redirects: 0,
  };
  try {
    const answer = await http.asyncRequest('GET', url.replace(/^ws/, 'http'), null, {
      ...params,
      tags: { name: 'relay-websocket' },
    });
    return [
      ofHandshake(answer.status),
      `handshake: ${detailOf(answer) ?? 'accepted or not answered when asked again'}`,
    ];
  } catch {
    // k6 throws at 101: this time the target accepts the handshake.
    return [ofHandshake(101), 'handshake: accepted when asked again'];
  }
}

export class Subscriber {
  /**
   * @param {SystemEnvironment} environment
   * @param {Session} session
   * @param {string} clientId
   * @param {string[]} topics at most 50
   * @param {Handlers} [handlers]
   */
  constructor(environment, session, clientId, topics, handlers = {}) {
    this.handlers = handlers;
    this.subscribed = false;
    this.closing = false;
    /** @type {(outcome: Outcome) => void} */
    this.settle = () => {};
    /** Resolves once with the outcome of the subscription; never rejects. @type {Promise<Outcome>} */
    this.outcome = new Promise((resolve) => {
      this.settle = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.markEnded = resolve;
    });
    const [url, protocols] = address(environment, session);
    this.askAgain = () => askAgain(url, protocols);
    this.startedAt = now();
    // The URL may contain the token. This name replaces the URL in k6's own tags.
    this.socket = new WebSocket(url, /** @type {any} */ (protocols), { tags: { name: 'relay-websocket' } });
    this.timer = setTimeout(() => this.fail('timeout'), SUBSCRIBE_TIMEOUT_MS);
    this.pings = setInterval(() => this.subscribed && this.socket.send('{"type":"ping"}'), PING_EVERY_MS);
    this.listen(clientId, topics);
  }

  /** @param {string} clientId @param {string[]} topics */
  listen(clientId, topics) {
    // @types/k6 declares an error handler without an event.
    const socket = /** @type {any} */ (this.socket);
    socket.onopen = () => socket.send(subscription(clientId, topics));
    socket.onmessage = (/** @type {any} */ event) => this.receive(event);
    socket.onerror = (/** @type {any} */ event) => {
      const text = String(event.error ?? '');
      // k6 also reports a close frame as an error. The close event that follows has its code.
      if (/websocket: close/.test(text)) return;
      if (/bad handshake/i.test(text)) void this.refused();
      else this.fail(ofText(text));
    };
    socket.onclose = (/** @type {any} */ event) => this.closed(event.code, event.reason);
  }

  /** Ends a refused handshake, after askAgain() has found the reason. */
  async refused() {
    if (this.closing) return;
    this.closing = true;
    const endedAt = now();
    const [kind, detail] = await this.askAgain();
    this.finish(kind, endedAt, detail);
  }

  /** @param {any} event of k6/websockets; its timestamp is the wall-clock time at which the frame was read, ms with fractions */
  receive(event) {
    const frame = parse(event.data);
    if (frame.type === 'message') {
      this.handlers.message?.(frame.payload, fromWall(event.timestamp));
    } else if (frame.type === 'subscribed') {
      this.subscribed = true;
      this.finish(null, fromWall(event.timestamp));
    } else if (frame.type === 'error') {
      this.fail(
        'ws_error',
        `error frame: ${frame.code ?? ''} ${frame.message ?? frame.detail ?? ''}`.trimEnd(),
      );
    } else if (frame.type !== 'pong') {
      this.fail('bad_response');
    }
  }

  /** @param {ErrorKind | null} failure @param {number} endedAt @param {string} [detail] */
  finish(failure, endedAt, detail) {
    clearTimeout(this.timer);
    this.settle({ startedAt: this.startedAt, endedAt, failure, detail });
  }

  /** @param {ErrorKind} kind @param {string} [detail] */
  fail(kind, detail) {
    if (this.closing) return;
    this.closing = true;
    if (this.subscribed) this.handlers.lost?.(kind, detail);
    else this.finish(kind, now(), detail);
    this.socket.close();
  }

  /** @param {number | undefined} code @param {string} [reason] */
  closed(code, reason) {
    this.fail(ofClose(code), code ? `close ${code}${reason ? `: ${reason}` : ''}` : undefined);
    clearInterval(this.pings);
    clearTimeout(this.timer);
    this.markEnded?.(undefined);
  }

  /** Closes the connection and waits for its end, at most 2 s. */
  async close() {
    if (!this.closing) {
      this.closing = true;
      this.socket.close(1000);
    }
    const timer = setTimeout(() => this.markEnded?.(undefined), CLOSE_TIMEOUT_MS);
    await this.ended;
    clearTimeout(timer);
    clearInterval(this.pings);
  }
}
