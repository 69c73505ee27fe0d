/** A SOCKS5 proxy that carries TCP and UDP like a real proxy, until it is silent for a time or ends. */
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
const UDP_ASSOCIATE = 3;
const IPV4 = 1;
/** Bytes in the header of a datagram to an IPv4 address (RFC 1928, 7). */
const UDP_HEADER = 10;

/**
 * @typedef {object} Outage
 * @property {number} after this number of requests: wanted tunnels and associations, sent pieces of payload and datagrams
 * @property {number} [ms] time without output, while the proxy accepts connections and payload; then it sends the accepted
 *   payload. Without `ms` the proxy ends, and refuses later connections
 * @property {boolean} [elsewhere] whether datagrams come back from another port than the relay's
 */

/** Passes payload in order while the proxy is not silent. */
class Gate {
  /** @param {Outage} outage @param {() => void} leave */
  constructor(outage, leave) {
    this.outage = outage;
    this.leave = leave;
    this.requests = 0;
    this.silent = false;
    /** @type {(() => void)[]} */
    this.held = [];
  }

  /** @param {() => void} what */
  pass(what) {
    if (this.silent) this.held.push(what);
    else what();
  }

  request() {
    this.requests += 1;
    if (this.requests !== this.outage.after) return;
    if (this.outage.ms === undefined) {
      this.leave();
      return;
    }
    this.silent = true;
    setTimeout(() => this.speak(), this.outage.ms).unref();
  }

  speak() {
    this.silent = false;
    for (const what of this.held.splice(0)) what();
  }
}

/** @param {Buffer} bytes that begin with an IPv4 address and a port */
const addressOf = (bytes) => ({ host: [...bytes.subarray(0, 4)].join('.'), port: bytes.readUInt16BE(4) });

/** A reply that names a port of ours. @param {number} port */
const granted = (port) => Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]);

/** Both ways, through the gate. @param {import('node:net').Socket} client @param {Buffer} request @param {Gate} gate */
function carry(client, request, gate) {
  const { host, port } = addressOf(request.subarray(4));
  const far = connect({ host, port, noDelay: true }, () => {
    gate.pass(() => client.write(granted(port)));
    client.on('data', (bytes) => {
      gate.request();
      gate.pass(() => far.write(bytes));
    });
    far.on('data', (bytes) => gate.pass(() => client.write(bytes)));
  });
  client.on('close', () => far.destroy());
  far.on('error', () => client.destroy());
  far.on('close', () => gate.pass(() => client.end()));
}

/** The datagrams that the relay sends on in place of one. @typedef {(payload: Buffer, way: 'up' | 'down') => Buffer[]} Carried */

/**
 * Datagrams both ways, while the control connection stands.
 * @param {import('node:net').Socket} client
 * @param {Gate} gate
 * @param {Carried} carried
 */
function relay(client, gate, carried) {
  const [near, far] = [createSocket('udp4'), createSocket('udp4')];
  /** @type {import('node:dgram').RemoteInfo | undefined} */
  let peer;
  let open = true;
  const send = (/** @type {() => void} */ what) => gate.pass(() => open && what());
  near.on('message', (bytes, from) => {
    if (bytes[3] !== IPV4) return;
    peer = from;
    const { host, port } = addressOf(bytes.subarray(4));
    gate.request();
    for (const payload of carried(bytes.subarray(UDP_HEADER), 'up'))
      send(() => far.send(payload, port, host));
  });
  far.on('message', (bytes, { port }) => {
    const header = Buffer.from([0, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]);
    const back = gate.outage.elsewhere ? far : near;
    for (const payload of carried(bytes, 'down'))
      send(() => back.send(Buffer.concat([header, payload]), peer?.port, LOOPBACK));
  });
  client.on('close', () => {
    open = false;
    near.close();
    far.close();
  });
  near.bind(0, LOOPBACK, () => gate.pass(() => client.write(granted(near.address().port))));
}

/** A relay without an outage. @param {import('node:net').Socket} client that has asked for it @param {Carried} carried */
export const relayTo = (client, carried) => relay(client, new Gate({ after: -1 }, () => {}), carried);

/** @param {Outage} outage @param {Carried} [carried] default: each datagram as it is */
export async function startFalteringProxy(outage, carried = (payload) => [payload]) {
  /** @type {Set<import('node:net').Socket>} */
  const clients = new Set();
  const leave = () => {
    server.close();
    for (const client of clients) client.destroy();
  };
  const gate = new Gate(outage, leave);
  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client);
    client.on('error', () => {});
    client.on('close', () => clients.delete(client));
    client.once('data', () => {
      gate.pass(() => client.write(Buffer.from([5, 0])));
      client.once('data', (request) => {
        gate.request();
        if (request[1] === UDP_ASSOCIATE) relay(client, gate, carried);
        else carry(client, request, gate);
      });
    });
  });
  await new Promise((resolve) => server.listen(0, LOOPBACK, () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `socks5://${LOOPBACK}:${port}`, stop: leave };
}
