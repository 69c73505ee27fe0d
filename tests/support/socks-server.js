/** A SOCKS5 server that misbehaves as told: what no real one does on demand. */
import { createServer } from 'node:net';

/**
 * @typedef {'silent' | 'garbage' | 'reset' | 'close' | { reply: number }} Behaviour what it does with a request;
 *   it greets properly first, but for silent and garbage
 */

/** @param {Behaviour} behaviour */
export async function startSocksServer(behaviour) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (behaviour === 'silent') return;
    if (behaviour === 'garbage') {
      socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
      return;
    }
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', () => answer(socket, behaviour));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `socks5://127.0.0.1:${port}`, stop: () => server.close() };
}

/** @param {import('node:net').Socket} socket @param {Behaviour} behaviour */
function answer(socket, behaviour) {
  if (behaviour === 'reset') socket.resetAndDestroy();
  else if (behaviour === 'close') socket.end(Buffer.from([5, 0]));
  else socket.write(Buffer.from([5, /** @type {any} */ (behaviour).reply, 0, 1, 0, 0, 0, 0, 0, 0]));
}
