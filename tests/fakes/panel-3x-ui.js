/**
 * A panel that takes requests as 3x-ui 3 does: web/controller/client.go of https://github.com/MHSanaei/3x-ui. Each answer has status 200,
 * `success` says whether the panel did what was asked, and a change's answer has no client.
 */
import { text } from 'node:stream/consumers';
import { sendJson, serve } from './serve.js';

const CLIENTS = '/panel/api/clients';

/** @typedef {{ email: string, enable: boolean, comment: string, inboundIds: number[] }} Client */

/** @param {unknown} [obj] */
export const done = (obj = null) => ({ success: true, msg: '', obj });
export const refused = (/** @type {string} */ msg) => ({ success: false, msg, obj: null });

/** @param {{ token: string, refuseEvery?: number }} how `refuseEvery`: each nth change is refused, with status 200 */
export async function startThreeXUi({ token, refuseEvery = Infinity }) {
  /** @type {Map<string, Client>} */
  const clients = new Map();
  /** @type {string[]} */
  const mistakes = [];
  let changes = 0;

  /** @param {URLSearchParams} query */
  const paged = (query) => {
    const [page, size, search, filter] = ['page', 'pageSize', 'search', 'filter'].map((name) =>
      query.get(name),
    );
    const found = [...clients.values()]
      .filter(({ email, comment }) => email.includes(search ?? '') || comment.includes(search ?? ''))
      .filter(({ enable }) => !filter || enable === (filter === 'active'))
      .toSorted((a, b) => (a.email < b.email ? -1 : 1));
    const from = (Number(page) - 1) * Number(size);
    return done({
      items: found.slice(from, from + Number(size)),
      total: clients.size,
      filtered: found.length,
    });
  };

  /** @param {string} path @param {any} body */
  const change = (path, body) => {
    changes += 1;
    if (changes % refuseEvery === 0) return refused('database is locked');
    if (path === `${CLIENTS}/add`) {
      if (!(body.inboundIds?.length > 0)) return refused('at least one inbound is required');
      if (clients.has(body.client.email)) return refused(`email ${body.client.email} already in use`);
      clients.set(body.client.email, { ...body.client, inboundIds: body.inboundIds });
      return done();
    }
    const [, verb, email] = /\/(update|del)\/([^/]+)$/.exec(path) ?? [];
    const client = clients.get(email);
    if (!client) return refused('client not found');
    if (verb === 'del') clients.delete(email);
    else {
      // An update replaces each field but the keys: what it leaves out is empty afterwards.
      const lost = Object.keys(client).filter((name) => name !== 'inboundIds' && !(name in body));
      if (lost.length > 0) mistakes.push(`an update without ${lost.join(', ')}`);
      clients.set(email, { ...body, inboundIds: client.inboundIds });
    }
    return done();
  };

  /** @param {string} method @param {URL} url @param {any} body */
  const answer = (method, { pathname, searchParams }, body) => {
    if (method === 'GET' && pathname === `${CLIENTS}/list/paged`) return paged(searchParams);
    if (method === 'GET' && pathname === '/panel/api/server/status') return done({ cpu: 1.5, uptime: 60 });
    const [, email] = /^\/panel\/api\/clients\/get\/([^/]+)$/.exec(pathname) ?? [];
    if (method === 'GET' && email) {
      const client = clients.get(email);
      return client ? done({ client, inboundIds: client.inboundIds }) : refused('record not found');
    }
    if (method === 'POST' && pathname.startsWith(`${CLIENTS}/`)) return change(pathname, body);
    mistakes.push(`${method} ${pathname}`);
    return undefined;
  };

  const server = await serve(async (request, response) => {
    const asked = await text(request);
    const { method = '', url = '', headers } = request;
    const known = headers.authorization === `Bearer ${token}`;
    // 3x-ui hides its API from a client without a session.
    const body =
      known && method !== 'HEAD'
        ? answer(method, new URL(url, 'http://panel'), asked && JSON.parse(asked))
        : undefined;
    sendJson(response, body);
  });
  return { ...server, clients, mistakes };
}
