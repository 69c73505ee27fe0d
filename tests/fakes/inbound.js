/**
 * A proxy's Shadowsocks inbound (chacha20-ietf-poly1305, SIP004) whose users a fake panel changes, and whose faults are known. It
 * reads each byte of a request, relays to the target by TCP and UDP, and keeps how long each late change took, which flows it
 * dropped, and what each user is charged.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const KEY = 32;
const TAG = 16;
const NONCE = 12;
/** An IPv4 address in front of other bytes. */
const ADDRESS = 7;
/** The most bytes in one chunk. */
const CHUNK = 0x3fff;
const CIPHER = 'chacha20-poly1305';

/**
 * @typedef {object} InboundFaults The faults begin once a connection has carried data, and so after the set-up of a run.
 * @property {boolean} [drops] each change ends an open connection of another user.
 * @property {number} [delayMs] until a change takes effect.
 * @property {'restart' | 'never'} [effect] changes take effect only after a restart of the core, or never.
 * @property {boolean} [ends] disabling a user ends the user's open connections.
 * @property {boolean} [closes] a connection of an unknown user is closed; otherwise it stays open in silence, as in xray.
 * @property {string} [doubles] end of the name of a user who is charged twice.
 * @property {boolean} [forgetsUdp] datagrams are not charged.
 */

/** EVP_BytesToKey with MD5. @param {string} password */
function masterOf(password) {
  const parts = [Buffer.alloc(0)];
  while (parts.length <= KEY / 16)
    parts.push(
      createHash('md5')
        .update(Buffer.concat([parts[parts.length - 1], Buffer.from(password)]))
        .digest(),
    );
  return Buffer.concat(parts).subarray(0, KEY);
}

/** One way of a session. */
class Seal {
  /** @param {Buffer} master @param {Buffer} salt */
  constructor(master, salt) {
    this.key = Buffer.from(hkdfSync('sha1', master, salt, 'ss-subkey', KEY));
    this.count = 0;
  }

  nonce() {
    const nonce = Buffer.alloc(NONCE);
    nonce.writeUInt32LE(this.count);
    this.count += 1;
    return nonce;
  }

  /** @param {Buffer} plain */
  seal(plain) {
    const cipher = createCipheriv(CIPHER, this.key, this.nonce(), { authTagLength: TAG });
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** @param {Buffer} sealed @returns {Buffer | null} null: the seal is broken */
  open(sealed) {
    const decipher = createDecipheriv(CIPHER, this.key, this.nonce(), { authTagLength: TAG });
    decipher.setAuthTag(sealed.subarray(-TAG));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(0, -TAG)), decipher.final()]);
    } catch {
      return null;
    }
  }
}

/** One connection of a client. */
class Flow {
  /** @param {Inbound} inbound @param {import('node:net').Socket} socket */
  constructor(inbound, socket) {
    this.inbound = inbound;
    this.socket = socket;
    this.input = Buffer.alloc(0);
    this.name = '';
    /** @type {Buffer} */
    this.master = Buffer.alloc(0);
    /** @type {Seal | undefined} */
    this.up = undefined;
    /** @type {number | undefined} */
    this.length = undefined;
    /** @type {import('node:net').Socket | undefined} */
    this.far = undefined;
    this.refused = false;
    socket.on('data', (data) => this.take(data));
    socket.on('close', () => this.end());
    socket.on('error', () => {});
  }

  end() {
    this.far?.destroy();
    this.inbound.flows.delete(this);
  }

  /** @param {Buffer} data */
  take(data) {
    if (this.refused) return;
    this.input = Buffer.concat([this.input, data]);
    if (!this.up && !this.begin()) return;
    for (;;) {
      const wanted = (this.length ?? 2) + TAG;
      if (this.input.length < wanted) return;
      const plain = this.up?.open(this.input.subarray(0, wanted));
      if (!plain) {
        this.socket.destroy();
        return;
      }
      this.input = this.input.subarray(wanted);
      if (this.length === undefined) this.length = plain.readUInt16BE();
      else {
        this.length = undefined;
        this.chunk(plain);
      }
    }
  }

  /** Finds the user by the first chunk. @returns {boolean} whether it is a user */
  begin() {
    if (this.input.length < KEY + 2 + TAG) return false;
    const salt = this.input.subarray(0, KEY);
    const head = this.input.subarray(KEY, KEY + 2 + TAG);
    for (const [name, master] of this.inbound.users) {
      if (!new Seal(master, salt).open(head)) continue;
      this.name = name;
      this.master = master;
      this.up = new Seal(master, salt);
      this.input = this.input.subarray(KEY);
      return true;
    }
    this.refused = true;
    if (this.inbound.faults.closes) this.socket.destroy();
    return false;
  }

  /** The first chunk is an IPv4 address. @param {Buffer} plain */
  chunk(plain) {
    if (this.far) {
      this.inbound.charge(this.name, plain.length, 'tcp');
      this.far.write(plain);
      return;
    }
    const far = connect(plain.readUInt16BE(5), plain.subarray(1, 5).join('.'));
    far.setNoDelay();
    this.far = far;
    /** @type {Seal | undefined} */
    let down;
    far.on('data', (data) => {
      if (!down) {
        const salt = randomBytes(KEY);
        down = new Seal(this.master, salt);
        this.socket.write(salt);
        this.inbound.carried += 1;
        this.inbound.flows.add(this);
      }
      this.inbound.charge(this.name, data.length, 'tcp');
      for (let from = 0; from < data.length; from += CHUNK) {
        const part = data.subarray(from, from + CHUNK);
        const length = Buffer.alloc(2);
        length.writeUInt16BE(part.length);
        this.socket.write(Buffer.concat([down.seal(length), down.seal(part)]));
      }
    });
    far.on('close', () => this.socket.destroy());
    far.on('error', () => {});
  }
}

export class Inbound {
  /** @param {InboundFaults} faults */
  constructor(faults) {
    this.faults = faults;
    /** The key of each user that may connect. @type {Map<string, Buffer>} */
    this.users = new Map();
    /** Connections that carried data and are open. @type {Set<Flow>} */
    this.flows = new Set();
    this.carried = 0;
    /** Names of the users whose flows it dropped. @type {string[]} */
    this.dropped = [];
    /** Time from each late change to its effect, ms, by the kind of change: a busy machine's timers are late. @type {Record<string, number[]>} */
    this.took = {};
    /** Changes that wait for a restart. @type {(() => void)[]} */
    this.waiting = [];
    this.server = createServer((socket) => new Flow(this, socket.setNoDelay()));
    this.socket = createSocket('udp4');
    /** Sockets to the far end, by user and client. @type {Map<string, import('node:dgram').Socket>} */
    this.associations = new Map();
    /** Bytes of each user. @type {Map<string, number>} */
    this.charged = new Map();
  }

  /** @returns {Promise<string>} its address, which is the same for TCP and UDP */
  async listen() {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    this.socket = createSocket('udp4', (packet, client) => this.datagram(packet, client));
    try {
      await once(this.socket.bind(port, '127.0.0.1'), 'listening');
    } catch {
      await this.stop();
      return this.listen();
    }
    return `ss://127.0.0.1:${port}`;
  }

  async stop() {
    for (const flow of this.flows) flow.socket.destroy();
    for (const far of this.associations.values()) far.close();
    this.socket.close();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** @param {string} name @param {number} bytes @param {'tcp' | 'udp'} transport */
  charge(name, bytes, transport) {
    const { doubles, forgetsUdp } = this.faults;
    if (transport === 'udp' && forgetsUdp) return;
    const times = doubles && name.endsWith(doubles) ? 2 : 1;
    this.charged.set(name, (this.charged.get(name) ?? 0) + times * bytes);
  }

  /** Finds the user of a packet. A packet of an unknown user has no answer. @param {Buffer} packet @param {import('node:dgram').RemoteInfo} client */
  datagram(packet, client) {
    const salt = packet.subarray(0, KEY);
    for (const [name, master] of this.users) {
      const plain = new Seal(master, salt).open(packet.subarray(KEY));
      if (!plain) continue;
      this.charge(name, plain.length - ADDRESS, 'udp');
      const far = this.association(name, master, client);
      far.send(plain.subarray(ADDRESS), plain.readUInt16BE(5), plain.subarray(1, 5).join('.'));
      return;
    }
  }

  /** @param {string} name @param {Buffer} master @param {import('node:dgram').RemoteInfo} client */
  association(name, master, client) {
    const id = `${name} ${client.port}`;
    const found = this.associations.get(id);
    if (found) return found;
    const far = createSocket('udp4', (answer, { address, port }) => {
      this.charge(name, answer.length, 'udp');
      const head = Buffer.from([1, ...address.split('.').map(Number), 0, 0]);
      head.writeUInt16BE(port, 5);
      const salt = randomBytes(KEY);
      const sealed = new Seal(master, salt).seal(Buffer.concat([head, answer]));
      this.socket.send(Buffer.concat([salt, sealed]), client.port, client.address);
    });
    this.associations.set(id, far);
    return far;
  }

  /** The hook of a fake panel (tests/fakes/panel-users.js). @param {string} operation @param {string} name @param {string} key */
  changed(operation, name, key) {
    if (operation === 'restart' && this.faults.effect === 'restart')
      for (const apply of this.waiting.splice(0)) apply();
    if (!['create', 'enable', 'disable', 'delete'].includes(operation)) return;
    const master = masterOf(key);
    const apply = () => {
      if (operation === 'create' || operation === 'enable') this.users.set(name, master);
      else this.users.delete(name);
      if (operation === 'disable' && this.faults.ends) this.drop((flow) => flow.name === name);
    };
    const { delayMs, effect, drops } = this.faults;
    const begun = this.carried > 0;
    if (begun && drops) this.drop((flow) => flow.name !== name && !this.dropped.includes(flow.name), 1);
    if (begun && effect) this.waiting.push(apply);
    else if (begun && delayMs) {
      const asked = performance.now();
      setTimeout(() => {
        apply();
        (this.took[operation] ??= []).push(performance.now() - asked);
      }, delayMs).unref();
    } else apply();
  }

  /** @param {(flow: Flow) => boolean} which @param {number} [most] */
  drop(which, most = Infinity) {
    for (const flow of [...this.flows].filter(which).slice(0, most)) {
      this.dropped.push(flow.name);
      flow.socket.destroy();
    }
  }
}
