/** A SOCKS5 server that misbehaves on demand, unlike a real server. */
import { connect, createServer } from 'node:net';

/**
 * @typedef {'silent' | 'garbage' | 'reset' | 'close' | 'login' | 'nagle' | 'late' | 'early' | 'open' | 'deaf' | 'cuts' | { reply: number }} Behaviour for a
 *   request. Except for silent and garbage the server greets properly first. login refuses every password. nagle carries the
 *   payload, and writes each answer in two parts: the second part waits for the acknowledgement of the first. late carries the
 *   payload, too, and answers CONNECT after 47 ms. early carries the payload, and answers CONNECT before it dials. open, deaf and cuts
 *   carry the payload; they pass the client's end on, never pass it, and close both ways at it
 */

/**
 * @param {Behaviour} behaviour
 * @param {number} [good] number of first tunnels that it carries like a real server
 */
export async function startSocksServer(behaviour, good = 0) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    if (connections <= good) return carry(socket);
    if (behaviour === 'nagle') return carry(socket, inTwoWrites);
    if (behaviour === 'late') return carry(socket, undefined, LATE_MS);
    if (behaviour === 'early' || behaviour === 'open' || behaviour === 'deaf' || behaviour === 'cuts')
      return carryToTheEnd(socket, behaviour);
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

/** How long a deaf proxy keeps a tunnel that the client has ended, ms. */
const DEAF_MS = 4000;

/**
 * A tunnel to an IPv4 address, whose ends are passed on one by one, or not.
 * @param {import('node:net').Socket} socket
 * @param {'early' | 'open' | 'deaf' | 'cuts'} behaviour
 */
function carryToTheEnd(socket, behaviour) {
  socket.allowHalfOpen = true;
  socket.once('data', () => {
    socket.write(Buffer.from([5, 0]));
    socket.once('data', (request) => {
      const host = [...request.subarray(4, 8)].join('.');
      const far = connect({ host, port: request.readUInt16BE(8), allowHalfOpen: true, noDelay: true });
      const leave = () => {
        socket.destroy();
        far.destroy();
      };
      const grant = () => socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      if (behaviour === 'early') grant();
      else far.once('connect', grant);
      socket.on('data', (data) => far.write(data));
      far.on('data', (data) => socket.write(data));
      far.on('end', () => socket.end());
      far.on('error', leave);
      socket.on('close', leave);
      socket.on('end', () => {
        if (behaviour === 'cuts') leave();
        else if (behaviour === 'deaf') setTimeout(leave, DEAF_MS);
        else far.end();
      });
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
