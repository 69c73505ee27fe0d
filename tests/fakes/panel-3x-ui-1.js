/**
 * A panel that takes requests as 3x-ui 1.7.9 does: web/controller/api.go and web/service/inbound.go of github.com/mhsanaei/3x-ui.
 * An inbound has its clients in one text. A change reads it, and stores it some time later: of two changes at once, one is lost.
 */
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const HOLD_MS = 5;
const SESSION = 'a-session-of-3x-ui';

/** @typedef {{ email: string, password: string, method: string, enable: boolean, comment?: string }} Client */

/** @param {unknown} [obj] */
const done = (obj = null) => ({ success: true, msg: '', obj });
const refused = (/** @type {string} */ msg) => ({ success: false, msg, obj: null });

/** @param {{ password: string }} how of the admin */
export async function startThreeXUiOne({ password }) {
  /** @type {Client[]} */
  let clients = [{ email: 'keeper', password: 'key', method: 'none', enable: true }];
  /** @type {string[]} */
  const mistakes = [];

  const inbound = () => ({ id: 1, up: 0, down: 0, settings: JSON.stringify({ clients }, null, 2) });

  /** The clients after a change; a text: why it is refused. @param {string} path @param {Client[]} before @param {any} body @returns {Client[] | string} */
  function changed(path, before, body) {
    const [, removed] = /^\/1\/delClient\/(.+)$/.exec(path) ?? [];
    if (removed) return before.filter(({ email }) => email !== removed);
    const [client] = JSON.parse(body.settings).clients;
    const found = before.findIndex(({ email }) => email === client.email);
    if (body.id !== 1 || client.method !== 'chacha20-ietf-poly1305') mistakes.push(JSON.stringify(body));
    if (path === '/addClient') return found < 0 ? [...before, client] : `Duplicate email: ${client.email}`;
    if (found >= 0 && before[found].password !== client.password) mistakes.push('another key');
    // It does not look whether it found the client.
    return before.with(Math.max(0, found), client);
  }

  /** @param {string} path @param {any} body */
  async function change(path, body) {
    const after = changed(path, clients, body);
    await pause(HOLD_MS);
    if (typeof after === 'string') return refused(after);
    clients = after;
    return done();
  }

  /** @param {string} method @param {string} path @param {any} body */
  async function answer(method, path, body) {
    const [, rest] = /^\/panel\/api\/inbounds(\/.+)$/.exec(path) ?? [];
    if (rest && method === 'POST') return change(rest, body);
    if (method === 'GET' && rest === '/list') return done([inbound()]);
    if (method === 'GET' && rest === '/get/1') return done(inbound());
    if (method !== 'HEAD') mistakes.push(`${method} ${path}`);
    return undefined;
  }

  /** @param {string} text of the form @returns {[Record<string, string>, unknown]} */
  function login(text) {
    if (new URLSearchParams(text).get('password') !== password)
      return [{}, refused('Invalid username or password.')];
    return [{ 'set-cookie': `session=${SESSION}; Path=/` }, done()];
  }

  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = '', url = '', headers } = request;
    if (method === 'POST' && url === '/login') {
      const [cookie, said] = login(text);
      response.writeHead(200, { 'content-type': 'application/json', ...cookie }).end(JSON.stringify(said));
      return;
    }
    if (!headers.cookie?.includes(`session=${SESSION}`)) {
      response.writeHead(307, { location: '/' }).end();
      return;
    }
    const body = await answer(method, url, text && JSON.parse(text));
    response
      .writeHead(body ? 200 : 404, { 'content-type': 'application/json' })
      .end(body && JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    mistakes,
    names: () => clients.map(({ email }) => email),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
