/**
 * A panel that takes requests as 3x-ui 1.7.9 does: web/controller/api.go and web/service/inbound.go of github.com/mhsanaei/3x-ui.
 * An inbound has its clients in one text. A change reads it, and stores it some time later: of two changes at once, one is lost.
 */
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { done, refused } from './panel-3x-ui.js';
import { sendJson, serve } from './serve.js';

const HOLD_MS = 5;
const SESSION = 'a-session-of-3x-ui';

/** @typedef {{ email: string, password: string, method: string, enable: boolean, comment?: string }} Client */

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

  const server = await serve(async (request, response) => {
    const asked = await text(request);
    const { method = '', url = '', headers } = request;
    if (method === 'POST' && url === '/login') {
      const right = new URLSearchParams(asked).get('password') === password;
      if (right) response.setHeader('set-cookie', `session=${SESSION}; Path=/`);
      sendJson(response, right ? done() : refused('Invalid username or password.'));
      return;
    }
    if (!headers.cookie?.includes(`session=${SESSION}`)) {
      response.writeHead(307, { location: '/' }).end();
      return;
    }
    sendJson(response, await answer(method, url, asked && JSON.parse(asked)));
  });
  return { ...server, mistakes, names: () => clients.map(({ email }) => email) };
}
