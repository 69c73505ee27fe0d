/** A SOCKS5 server that misbehaves on demand, unlike a real server. */
import { connect, createServer } from 'node:net';
import { relayTo } from './faltering-proxy.js';

/**
 * @typedef {'silent' | 'garbage' | 'reset' | 'close' | 'login' | 'nagle' | 'late' | 'early' | 'open' | 'deaf' | 'cuts' | 'nowhere' | { reply: number }} Behaviour for a
 *   request. Except for silent and garbage the server greets properly first. login refuses every password. nagle carries the
 *   payload, and writes each answer in two parts: the second part waits for the acknowledgement of the first. late carries the
 *   payload, too, and answers CONNECT after 47 ms. early carries the payload, and answers CONNECT before it dials. open, deaf and cuts
 *   carry the payload; they pass the client's end on, never pass it, and close both ways at it. nowhere carries every other tunnel; it
 *   grants the rest, and closes them at the first payload
 */

/**
 * @param {Behaviour} behaviour
 * @param {number} [good] number of first tunnels that it carries like a real server
 * @param {{ port?: number, carried?: import('./faltering-proxy.js').Carried }} [of] its port, and the datagrams that it sends on
 */
export async function startSocksServer(behaviour, good = 0, { port: wanted = 0, carried } = {}) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    if (connections <= good || (behaviour === 'nowhere' && connections % 2 === 1)) return carry(socket);
    if (behaviour === 'nagle') return carry(socket, inTwoWrites);
    if (behaviour === 'late') return carry(socket, undefined, LATE_MS);
    if (isToTheEnd(behaviour)) return carryToTheEnd(socket, behaviour, carried);
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
  await new Promise((resolve) => server.listen(wanted, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `socks5://127.0.0.1:${port}`, stop: () => server.close() };
}

const UDP_ASSOCIATE = 3;
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

/** @typedef {'early' | 'open' | 'deaf' | 'cuts'} ToTheEnd */
/** @param {Behaviour} behaviour @returns {behaviour is ToTheEnd} */
const isToTheEnd = (behaviour) =>
  ['early', 'open', 'deaf', 'cuts'].includes(/** @type {string} */ (behaviour));

/** How long an early proxy waits before it dials, ms. */
const EARLY_MS = 15;
/** How long a deaf proxy keeps a tunnel that the client has ended, ms. */
const DEAF_MS = 4000;

/**
 * A tunnel to an IPv4 address, whose ends are passed on one by one, or not.
 * @param {import('node:net').Socket} socket
 * @param {ToTheEnd} behaviour
 * @param {import('./faltering-proxy.js').Carried} [carried]
 */
function carryToTheEnd(socket, behaviour, carried = (payload) => [payload]) {
  socket.allowHalfOpen = true;
  socket.once('data', () => {
    socket.write(Buffer.from([5, 0]));
    socket.once('data', (request) => {
      if (request[1] === UDP_ASSOCIATE) return relayTo(socket, carried);
      if (behaviour !== 'early') return dial(socket, request, behaviour).once('connect', () => grant(socket));
      socket.pause();
      grant(socket);
      return setTimeout(() => {
        dial(socket, request, behaviour);
        socket.resume();
      }, EARLY_MS);
    });
  });
}

/** @param {import('node:net').Socket} socket */
const grant = (socket) => socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));

/** @param {import('node:net').Socket} socket @param {Buffer} request @param {ToTheEnd} behaviour */
function dial(socket, request, behaviour) {
  const host = [...request.subarray(4, 8)].join('.');
  const far = connect({ host, port: request.readUInt16BE(8), allowHalfOpen: true, noDelay: true });
  const leave = () => {
    socket.destroy();
    far.destroy();
  };
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
  return far;
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
  if (behaviour === 'nowhere') {
    socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    socket.once('data', () => socket.end());
  } else if (behaviour === 'reset') socket.resetAndDestroy();
  else if (behaviour === 'close') socket.end(Buffer.from([5, 0]));
  else socket.write(Buffer.from([5, /** @type {any} */ (behaviour).reply, 0, 1, 0, 0, 0, 0, 0, 0]));
}
