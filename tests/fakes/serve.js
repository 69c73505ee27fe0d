/** Servers of fake panels. */
import { createServer } from 'node:http';

/** Listens on a free port of loopback. @param {import('node:http').RequestListener} listener @param {import('node:http').ServerOptions} [options] */
export async function serve(listener, options = {}) {
  const server = createServer(options, listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param {import('node:http').ServerResponse} response @param {object | undefined} body undefined: the path is unknown */
export function sendJson(response, body) {
  const headers = { 'content-type': 'application/json' };
  response.writeHead(body ? 200 : 404, headers).end(body && JSON.stringify(body));
}
