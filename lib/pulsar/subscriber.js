/**
 * A WebSocket client of a Pulsar-style relay: connects, subscribes, hands on what
 * it receives with the time at which it came off the socket.
 * https://grafana.com/docs/k6/latest/javascript-api/k6-websockets/
 */
import encoding from 'k6/encoding';
import http from 'k6/http';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'k6/timers';
import { WebSocket } from 'k6/websockets';
import { fromWall, now } from '../clock.js';
import { detailOf } from '../answers.js';
import { ofClose, ofHandshake, ofText } from '../errors.js';

const SUBSCRIBE_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2_000;
const ASK_TIMEOUT_MS = 5_000;
const HANDSHAKE_KEY = encoding.b64encode('windtunnel-again');
/** The relay drops a client that sends nothing for a minute (PULSAR_WS_IDLE_SECONDS). */
const PING_EVERY_MS = 20_000;

/** @typedef {import('../errors.js').ErrorKind} ErrorKind */
/** @typedef {import('../environment.js').SystemEnvironment} SystemEnvironment */
/** @typedef {import('./relay.js').Session} Session */

/**
 * @typedef {object} Handlers
 * @property {(payload: any, receivedAt: number) => void} [message] receivedAt on now()'s clock
 * @property {(kind: ErrorKind, detail?: string) => void} [lost] the connection ended, or the relay sent an error, after the subscription
 *
 * @typedef {{ startedAt: number, endedAt: number, failure: ErrorKind | null, detail?: string }} Outcome of connecting and subscribing
 */

/** @param {SystemEnvironment} environment @param {Session} session @returns {[string, string[]]} */
function address(environment, session) {
  const { url, auth } = environment.websocket;
  if (!session.token || auth === 'none') return [url, []];
  if (auth === 'query') return [`${url}?token=${encodeURIComponent(session.token)}`, []];
  return [url, ['bearer', `bearer.${session.token}`]];
}

/** A frame of the relay; one that cannot be read has no type. @param {string} text @returns {any} */
function parse(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/**
 * k6 does not tell the answer to a handshake that was refused: the same handshake, sent again as a request, does.
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
    // k6 throws at 101: the target takes the handshake now.
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
    /** Resolves once, with how subscribing went; never rejects. @type {Promise<Outcome>} */
    this.outcome = new Promise((resolve) => {
      this.settle = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.markEnded = resolve;
    });
    const [url, protocols] = address(environment, session);
    this.askAgain = () => askAgain(url, protocols);
    this.startedAt = now();
    // The token may stand in the URL: a name keeps it out of k6's own tags.
    this.socket = new WebSocket(url, /** @type {any} */ (protocols), { tags: { name: 'relay-websocket' } });
    this.timer = setTimeout(() => this.fail('timeout'), SUBSCRIBE_TIMEOUT_MS);
    this.pings = setInterval(() => this.subscribed && this.socket.send('{"type":"ping"}'), PING_EVERY_MS);
    this.listen(clientId, topics);
  }

  /** @param {string} clientId @param {string[]} topics */
  listen(clientId, topics) {
    // @types/k6 gives the error handler no event.
    const socket = /** @type {any} */ (this.socket);
    socket.onopen = () => socket.send(JSON.stringify({ type: 'subscribe', client_id: clientId, topics }));
    socket.onmessage = (/** @type {any} */ event) => this.receive(event);
    socket.onerror = (/** @type {any} */ event) => {
      const text = String(event.error ?? '');
      // A close frame comes as an error too; the close event that follows has its code.
      if (/websocket: close/.test(text)) return;
      if (/bad handshake/i.test(text)) void this.refused();
      else this.fail(ofText(text));
    };
    socket.onclose = (/** @type {any} */ event) => this.closed(event.code, event.reason);
  }

  /** The handshake was refused: its failure is known once the target has told why. */
  async refused() {
    if (this.closing) return;
    this.closing = true;
    const endedAt = now();
    const [kind, detail] = await this.askAgain();
    this.finish(kind, endedAt, detail);
  }

  /** @param {any} event of k6/websockets; its timestamp is when the frame was read, wall clock, ms with fractions */
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

  /** Closes normally and waits for the end, two seconds at most. */
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
