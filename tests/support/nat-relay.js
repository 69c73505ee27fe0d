/** A SOCKS5 relay for datagrams over IPv4 that behaves like a NAT of a chosen kind. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
/** Where a relay that preserves ports sends from: the client's port is taken at the client's address. */
const PRESERVES_AT = '127.0.0.4';
const TYPE_DOMAIN = 3;
const TYPE_IPV6 = 4;
/** Bytes of the header before an empty name's port. */
const LEAST_HEADER = 7;
/** The bit that ends a sequence of fragments (RFC 1928, 7). */
const LAST_FRAGMENT = 0x80;

/**
 * @typedef {'any' | 'address' | 'port'} Dependence nothing, the far end's address, its address and port
 *
 * @typedef {object} Kind
 * @property {Dependence} [mapping] The mapping depends on it. Default: any.
 * @property {Dependence} [filtering] The filter depends on it. Default: any.
 * @property {number} [forgetsMs] Idle life of a mapping. Default: no end.
 * @property {'both' | 'out' | 'in'} [refreshedBy] Datagrams that renew a mapping. Default: both.
 * @property {boolean} [hairpins] Default: true.
 * @property {boolean} [preserves] Far ends see the client's port.
 * @property {boolean} [checks] Only the address of the control connection may send.
 * @property {boolean} [lies] Answers name a wrong sender.
 * @property {number} [lastsMs] Time that the association outlives its control connection. Default: none.
 * @property {boolean} [listens] The relay's port stays open after that, and carries nothing.
 * @property {'port' | 'address'} [elsewhere] answers come from another port, or address, than the relay's
 * @property {'unspecified' | 'empty' | 'domain' | 'family' | 'nated'} [bound] oddity of BND.ADDR
 * @property {'pass' | 'reassemble' | 'end'} [fragments] default: dropped
 * @property {boolean} [swaps] each two answers
 * @property {boolean} [duplicates] each answer
 * @property {number} [stallsMs] Time for which the relay holds all answers back, from the first of a far end that the client has not sent to.
 */

/** @param {Dependence} dependence @param {string} host @param {number} port */
const keyOf = (dependence, host, port) =>
  ({ any: 'any', address: host, port: `${host}:${port}` })[dependence];

/** The target and the payload of a client's datagram; a name is the loopback address. @param {Buffer} bytes */
function unwrapped(bytes) {
  const end = bytes[3] === TYPE_DOMAIN ? 5 + bytes[4] : 8;
  const host = bytes[3] === TYPE_DOMAIN ? LOOPBACK : [...bytes.subarray(4, 8)].join('.');
  return { host, port: bytes.readUInt16BE(end), payload: bytes.subarray(end + 2) };
}

/** @param {string} host @param {number} port */
const portBytes = (host, port) => [...host.split('.').map(Number), port >> 8, port & 255];

/** BND.ADDR and BND.PORT with their type. @param {Kind['bound']} bound @param {number} port */
function boundBytes(bound, port) {
  const tail = [port >> 8, port & 255];
  if (bound === 'empty') return [TYPE_DOMAIN, 0, ...tail];
  if (bound === 'domain') return [TYPE_DOMAIN, 9, ...Buffer.from('localhost'), ...tail];
  if (bound === 'family') return [4, ...Array(15).fill(0), 1, ...tail];
  const host = { unspecified: '0.0.0.0', nated: '127.0.0.9' }[bound ?? ''] ?? LOOPBACK;
  return [1, ...portBytes(host, port)];
}

/**
 * Holds answers back for a time, once.
 * @param {number | undefined} ms
 * @param {(wrapped: Buffer) => void} send
 */
function stallOf(ms, send) {
  let over = !ms;
  /** @type {Buffer[] | null} */
  let waiting = null;
  return {
    begin() {
      if (over) return;
      over = true;
      waiting = [];
      setTimeout(() => {
        const all = waiting ?? [];
        waiting = null;
        all.forEach(send);
      }, ms);
    },
    /** @param {Buffer} wrapped */
    pass(wrapped) {
      if (waiting) waiting.push(wrapped);
      else send(wrapped);
    },
  };
}

/**
 * One association.
 * @param {import('node:net').Socket} control
 * @param {Kind} kind
 * @param {Set<number>} seen ports of all associations that far ends see
 * @param {Set<() => void>} ends closes all sockets
 * @param {Set<import('node:dgram').Socket>} listening sockets that outlive their associations
 */
function associate(control, kind, seen, ends, listening) {
  const { mapping = 'any', filtering = 'any', refreshedBy = 'both', forgetsMs = Infinity } = kind;
  const near = createSocket('udp4');
  const other = createSocket('udp4');
  /** @typedef {{ socket: import('node:dgram').Socket, sentTo: Set<string>, usedAt: number }} Mapping @type {Map<string, Mapping>} */
  const mappings = new Map();
  /** @type {import('node:dgram').RemoteInfo | undefined} */
  let client;
  /** @type {Buffer | null} */
  let held = null;
  let fragments = Buffer.alloc(0);
  let open = true;

  const end = () => {
    if (!open) return;
    open = false;
    ends.delete(end);
    for (const { socket } of mappings.values()) socket.close();
    if (kind.listens) listening.add(near);
    else near.close();
    other.close();
  };
  ends.add(end);

  /** @param {Buffer} wrapped */
  function send(wrapped) {
    const times = kind.duplicates ? 2 : 1;
    for (let time = 0; open && time < times; time += 1)
      (kind.elsewhere ? other : near).send(wrapped, client?.port, client?.address);
  }

  const stall = stallOf(kind.stallsMs, send);

  /** @param {Buffer} wrapped */
  function answer(wrapped) {
    if (!kind.swaps) stall.pass(wrapped);
    else if (held) {
      send(wrapped);
      send(held);
      held = null;
    } else {
      held = wrapped;
      // The last one has no other to change places with.
      setTimeout(() => {
        if (held === wrapped) send(wrapped);
        if (held === wrapped) held = null;
      }, 20);
    }
  }

  /** @param {string} key */
  function mapped(key) {
    const found = mappings.get(key);
    if (found && performance.now() - found.usedAt < forgetsMs) return found;
    found?.socket.close();
    const one = { socket: createSocket('udp4'), sentTo: new Set(), usedAt: performance.now() };
    one.socket.bind(kind.preserves ? (client?.port ?? 0) : 0, kind.preserves ? PRESERVES_AT : LOOPBACK, () =>
      seen.add(one.socket.address().port),
    );
    one.socket.on('message', (bytes, { address, port }) => {
      if (performance.now() - one.usedAt >= forgetsMs) return;
      if (!one.sentTo.has(keyOf(filtering, address, port))) return;
      if (kind.hairpins === false && seen.has(port)) return;
      if (!one.sentTo.has(keyOf('port', address, port))) stall.begin();
      if (refreshedBy !== 'out') one.usedAt = performance.now();
      const named = kind.lies ? portBytes('127.0.0.7', 7) : portBytes(address, port);
      answer(Buffer.from([0, 0, 0, 1, ...named, ...bytes]));
    });
    mappings.set(key, one);
    return one;
  }

  /** @param {string} host @param {number} port @param {Buffer} payload */
  function pass(host, port, payload) {
    const one = mapped(keyOf(mapping, host, port));
    if (refreshedBy !== 'in') one.usedAt = performance.now();
    one.sentTo.add(keyOf(filtering, host, port));
    one.sentTo.add(keyOf('port', host, port));
    one.socket.send(payload, port, host);
  }

  /** The probe's last datagram, which asks whether the port is open, has no header. @param {Buffer} bytes @param {{ address: string }} from */
  const ignored = (bytes, { address }) =>
    !open ||
    bytes.length < LEAST_HEADER ||
    bytes[3] === TYPE_IPV6 ||
    (kind.checks && address !== control.remoteAddress);

  near.on('message', (bytes, from) => {
    if (ignored(bytes, from)) return;
    const fragment = bytes[2];
    const { host, port, payload } = unwrapped(bytes);
    client = from;
    const complete = (fragment & LAST_FRAGMENT) > 0;
    if (fragment > 0 && kind.fragments === 'end') end();
    else if (fragment === 0 || kind.fragments === 'pass') pass(host, port, payload);
    else if (kind.fragments === 'reassemble') {
      fragments = complete ? Buffer.concat([fragments, payload]) : payload;
      if (complete) pass(host, port, fragments);
    }
  });
  control.on('close', () => (kind.lastsMs ? setTimeout(end, kind.lastsMs).unref() : end()));
  other.bind(0, kind.elsewhere === 'address' ? '127.0.0.5' : LOOPBACK);
  near.bind(0, LOOPBACK, () =>
    control.write(Buffer.from([5, 0, 0, ...boundBytes(kind.bound, near.address().port)])),
  );
}

/** @param {Kind} kind */
export async function startNatRelay(kind) {
  /** @type {Set<() => void>} */
  const ends = new Set();
  /** @type {Set<number>} */
  const seen = new Set();
  /** @type {Set<import('node:dgram').Socket>} */
  const listening = new Set();
  const server = createServer({ noDelay: true }, (control) => {
    control.on('error', () => {});
    control.once('data', () => {
      control.write(Buffer.from([5, 0]));
      control.once('data', () => associate(control, kind, seen, ends, listening));
    });
  });
  await new Promise((resolve) => server.listen(0, LOOPBACK, () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const stop = () => {
    server.close();
    for (const end of ends) end();
    for (const near of listening) near.close();
  };
  return { address: `${LOOPBACK}:${port}`, url: `socks5://${LOOPBACK}:${port}`, stop };
}
