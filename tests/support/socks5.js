/** A small SOCKS5 client (RFC 1928, RFC 1929): IPv4 addresses only. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {{ host: string, port: number }} Address */
/** @typedef {Address & { secured?: () => import('node:net').Socket }} Proxy `secured` connects to it in TLS */
/** @typedef {{ username: string, password: string }} User */

const PATIENCE_MS = 10_000;
const CONNECT = 1;
const UDP_ASSOCIATE = 3;

/** @param {string} what @returns {Promise<never>} */
async function tooLate(what) {
  await sleep(PATIENCE_MS, undefined, { ref: false });
  throw new Error(`nothing for ${PATIENCE_MS} ms: ${what}`);
}

/** Reads a stream by exact numbers of bytes. @param {import('node:net').Socket} socket */
function reader(socket) {
  let kept = Buffer.alloc(0);
  let wake = () => {};
  let over = '';
  socket.on('data', (data) => {
    kept = Buffer.concat([kept, data]);
    wake();
  });
  for (const event of ['error', 'close'])
    socket.on(event, (error) => {
      over ||= error?.message || 'the connection was closed';
      wake();
    });
  /** @param {number} count @returns {Promise<Buffer>} */
  return async (count) => {
    while (kept.length < count) {
      if (over) throw new Error(over);
      const data = new Promise((resolve) => (wake = () => resolve(undefined)));
      await Promise.race([data, tooLate(`${count} bytes`)]);
    }
    const taken = kept.subarray(0, count);
    kept = kept.subarray(count);
    return taken;
  };
}

/** An address as both requests and datagrams have it. @param {Address} address */
function encode({ host, port }) {
  return Buffer.from([1, ...host.split('.').map(Number), port >> 8, port & 0xff]);
}

/** @param {Buffer} bytes from the address type on */
function decode(bytes) {
  if (bytes[0] !== 1) throw new Error(`address type ${bytes[0]}`);
  return { host: bytes.subarray(1, 5).join('.'), port: bytes.readUInt16BE(5) };
}

/**
 * Greets the proxy, logs in if a user is given, and sends one command.
 * @param {Proxy} proxy
 * @param {User | undefined} user
 * @param {number} command
 * @param {Address} target
 */
async function request(proxy, user, command, target) {
  const socket = proxy.secured?.() ?? connect(proxy.port, proxy.host);
  const read = reader(socket);
  try {
    await Promise.race([
      once(socket, proxy.secured ? 'secureConnect' : 'connect'),
      tooLate('the connection'),
    ]);
    socket.write(Buffer.from([5, 1, user ? 2 : 0]));
    const [, method] = await read(2);
    if (method !== (user ? 2 : 0)) throw new Error(`the proxy wants method ${method}`);
    if (user) {
      const [name, password] = [Buffer.from(user.username), Buffer.from(user.password)];
      socket.write(
        Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([password.length]), password]),
      );
      const [, status] = await read(2);
      if (status !== 0) throw new Error(`the proxy refused the password: ${status}`);
    }
    socket.write(Buffer.concat([Buffer.from([5, command, 0]), encode(target)]));
    const head = await read(3);
    if (head[1] !== 0) throw new Error(`the proxy answered ${head[1]}`);
    return { socket, read, bound: decode(await read(7)) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * A tunnel to a target through the proxy.
 * @param {Proxy} proxy @param {Address} target @param {User} [user]
 */
export async function connectTunnel(proxy, target, user) {
  const { socket, read } = await request(proxy, user, CONNECT, target);
  return {
    /** Sends data, and reads the same number of bytes. @param {Buffer} data */
    roundTrip: async (data) => {
      socket.write(data);
      return read(data.length);
    },
    close: () => socket.destroy(),
  };
}

/**
 * A relay for datagrams through the proxy.
 * @param {Proxy} proxy @param {User} [user]
 */
export async function associate(proxy, user) {
  const { socket: control, bound } = await request(proxy, user, UDP_ASSOCIATE, { host: '0.0.0.0', port: 0 });
  const relay = { host: bound.host === '0.0.0.0' ? proxy.host : bound.host, port: bound.port };
  const socket = createSocket('udp4');
  return {
    relay,
    /** Sends one datagram and takes the next answer. @param {Address} target @param {Buffer} data */
    roundTrip: async (target, data) => {
      const answer = once(socket, 'message');
      socket.send(Buffer.concat([Buffer.alloc(3), encode(target), data]), relay.port, relay.host);
      const [message] = await Promise.race([answer, tooLate('a datagram')]);
      return { from: decode(message.subarray(3)), data: message.subarray(10) };
    },
    close: () => {
      socket.close();
      control.destroy();
    },
  };
}
