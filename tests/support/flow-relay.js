/** A SOCKS5 proxy that only relays datagrams, with a fault on the way back. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
/** Bytes in the header of a datagram to an IPv4 address (RFC 1928, 7). */
const UDP_HEADER = 10;

/**
 * @typedef {() => void} Send
 * @typedef {{ held?: Send, until?: number }} Memory of one association
 * @typedef {(number: number, send: Send, memory: Memory) => void} Fault what happens to the answer of this number, from 1, of an
 *   association. `send` passes it on
 *
 * @typedef {{ near: import('node:dgram').Socket, peer?: import('node:dgram').RemoteInfo }} Relay
 */

/** @param {Buffer} bytes that begin with an IPv4 address and a port */
const addressOf = (bytes) => ({ host: [...bytes.subarray(0, 4)].join('.'), port: bytes.readUInt16BE(4) });

/**
 * @param {{ fault?: Fault, swallows?: (number: number) => boolean, most?: number, crosses?: boolean, repeats?: (answer: Buffer) => Buffer }}
 *   [behaviour] `swallows`: datagrams, by their number from 1, that never reach the far end. `most`: associations at once, and it refuses
 *   more. `crosses`: answers go to the client of the oldest association. `repeats`: each association also gets an answer of an ended one
 */
export async function startFlowRelay({
  fault = (_number, send) => send(),
  swallows = () => false,
  most = Infinity,
  repeats,
  crosses = false,
} = {}) {
  /** @type {Set<Relay>} */
  const relays = new Set();
  /** @type {Set<import('node:net').Socket>} */
  const clients = new Set();
  /** @type {Buffer | undefined} an answer of an association that has ended */
  let old;

  /** @param {import('node:net').Socket} client */
  function associate(client) {
    if (relays.size >= most) {
      client.end(Buffer.from([5, 1, 0, 1, 0, 0, 0, 0, 0, 0]));
      return;
    }
    /** @type {Relay} */
    const own = { near: createSocket('udp4') };
    const far = createSocket('udp4');
    /** @type {Memory} */
    const memory = {};
    let [number, sent] = [0, 0];
    /** @type {Buffer | undefined} */
    let last;
    relays.add(own);
    own.near.on('message', (bytes, from) => {
      // A datagram without the header of SOCKS5 and an IPv4 address is of another program.
      if (bytes.length < UDP_HEADER || bytes.readUInt32BE(0) !== 1) return;
      own.peer = from;
      sent += 1;
      if (sent === 1 && repeats && old) own.near.send(repeats(old), from.port, LOOPBACK);
      if (swallows(sent)) return;
      const { host, port } = addressOf(bytes.subarray(4));
      far.send(bytes.subarray(UDP_HEADER), port, host);
    });
    far.on('message', (bytes, { address, port }) => {
      const header = [0, 0, 0, 1, ...address.split('.').map(Number), port >> 8, port & 255];
      const answer = Buffer.concat([Buffer.from(header), bytes]);
      last = answer;
      const [oldest = own] = relays;
      const to = crosses ? oldest : own;
      number += 1;
      const send = () => relays.has(to) && to.near.send(answer, to.peer?.port, LOOPBACK);
      // The oldest association may not have sent anything yet, so that its client's port is unknown.
      fault(number, () => (to.peer ? send() : to.near.once('message', send)), memory);
    });
    client.on('close', () => {
      old = last ?? old;
      relays.delete(own);
      own.near.close();
      far.close();
    });
    own.near.bind(0, LOOPBACK, () => {
      const { port } = own.near.address();
      client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]));
    });
  }

  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client);
    client.on('error', () => {});
    client.on('close', () => clients.delete(client));
    client.once('data', () => {
      client.write(Buffer.from([5, 0]));
      client.once('data', () => associate(client));
    });
  });
  await new Promise((resolve) => server.listen(0, LOOPBACK, () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `socks5://${LOOPBACK}:${port}`,
    stop() {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}
