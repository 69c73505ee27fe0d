/** A SOCKS5 server that misbehaves as told: what no real one does on demand. */
import { connect, createServer } from 'node:net';

/**
 * @typedef {'silent' | 'garbage' | 'reset' | 'close' | 'login' | 'nagle' | 'late' | { reply: number }} Behaviour what it does with a
 *   request; it greets properly first, but for silent and garbage; login refuses every password; nagle carries what it is
 *   given, and each answer in two writes of which the second waits until the first is acknowledged;
 *   late carries it too, and answers CONNECT after 47 ms
 */

/**
 * @param {Behaviour} behaviour
 * @param {number} [good] first tunnels that it carries as a real one does
 */
export async function startSocksServer(behaviour, good = 0) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    if (connections <= good) return carry(socket);
    if (behaviour === 'nagle') return carry(socket, inTwoWrites);
    if (behaviour === 'late') return carry(socket, undefined, LATE_MS);
    if (behaviour === 'silent') return undefined;
    if (behaviour === 'garbage') {
      return socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    }
    if (behaviour === 'login') return refuseLogin(socket);
    return socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', () => answer(socket, behaviour));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `socks5://127.0.0.1:${port}`, stop: () => server.close() };
}

const LATE_MS = 47;

/** Without TCP_NODELAY. @param {import('node:net').Socket} from @param {import('node:net').Socket} to */
function inTwoWrites(from, to) {
  to.setNoDelay(false);
  from.on('data', (data) => {
    to.write(data.subarray(0, 1));
    to.write(data.subarray(1));
  });
  from.on('end', () => to.end());
}

/**
 * A tunnel to an IPv4 address.
 * @param {import('node:net').Socket} socket
 * @param {(from: import('node:net').Socket, to: import('node:net').Socket) => void} back how answers get back
 * @param {number} [waits] ms before it answers CONNECT
 */
function carry(socket, back = (from, to) => from.pipe(to), waits = 0) {
  socket.once('data', () => {
    socket.write(Buffer.from([5, 0]));
    socket.once('data', (request) => {
      const far = connect(request.readUInt16BE(8), [...request.subarray(4, 8)].join('.'), () => {
        setTimeout(() => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          socket.pipe(far);
          back(far, socket);
        }, waits);
      });
      far.on('error', () => socket.destroy());
    });
  });
}

/** @param {import('node:net').Socket} socket */
function refuseLogin(socket) {
  socket.once('data', (greeting) => {
    const offered = greeting.subarray(2).includes(2);
    socket.write(Buffer.from([5, offered ? 2 : 0xff]));
    socket.once('data', () => socket.write(Buffer.from([1, 1])));
  });
}

/** @param {import('node:net').Socket} socket @param {Behaviour} behaviour */
function answer(socket, behaviour) {
  if (behaviour === 'reset') socket.resetAndDestroy();
  else if (behaviour === 'close') socket.end(Buffer.from([5, 0]));
  else socket.write(Buffer.from([5, /** @type {any} */ (behaviour).reply, 0, 1, 0, 0, 0, 0, 0, 0]));
}
