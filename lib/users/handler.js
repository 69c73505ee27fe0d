/** Adds users to an inbound of xray, and removes them, by its HandlerService. */
import encoding from 'k6/encoding';
import { StatusOK } from 'k6/net/grpc';
import { ofGrpc, ofText } from '../errors.js';
import { clientOf } from './grpc.js';

/**
 * @typedef {import('./live-tries.js').User} User
 * @typedef {{ kind: import('../errors.js').ErrorKind, status: string, text: string }} Fault
 */

const SERVICE = 'xray.app.proxyman.command.HandlerService';
const OPERATIONS = 'xray.app.proxyman.command';
/** Tag of the inbound (testbeds/users/end.py). */
const TAG = 'users';
const TIMEOUT = '10s';
/** The method of Shadowsocks that the testbed has, and field 2 of its accounts: CHACHA20_POLY1305. */
const METHOD_OF_SHADOWSOCKS = 'chacha20-ietf-poly1305';
const CHACHA20_POLY1305 = [2 * 8, 7];

/** A number as protobuf writes it. @param {number} number @returns {number[]} */
const varint = (number) =>
  number < 128 ? [number] : [(number % 128) + 128, ...varint(Math.floor(number / 128))];

/** A field with bytes, or with ASCII. @param {number} number @param {string | number[]} value @returns {number[]} */
function field(number, value) {
  const bytes = typeof value === 'string' ? Array.from(value, (one) => one.charCodeAt(0)) : value;
  return [number * 8 + 2, ...varint(bytes.length), ...bytes];
}

/** The account of a user as xray's TypedMessage: the key is its field 1. @param {string} protocol @param {User} user */
function accountOf(protocol, { key = '' }) {
  const cipher = protocol === 'shadowsocks' ? CHACHA20_POLY1305 : [];
  return [...field(1, `xray.proxy.${protocol}.Account`), ...field(2, [...field(1, key), ...cipher])];
}

/** An inbound as a probe takes it. @param {string} protocol @param {string} address @returns {import('./live-tries.js').Inbound} */
export const inboundAt = (protocol, address) => ({
  protocol,
  address,
  ...(protocol === 'shadowsocks' ? { method: METHOD_OF_SHADOWSOCKS } : {}),
});

export class Handler {
  /** In the init phase. @param {string} address HOST:PORT of the API @param {string} protocol of the inbound */
  constructor(address, protocol) {
    this.address = address;
    this.protocol = protocol;
    this.client = clientOf('handler.proto');
    this.connected = false;
  }

  /** Throws if nobody listens. */
  connect() {
    if (!this.connected) this.client.connect(this.address, { plaintext: true, timeout: TIMEOUT });
    this.connected = true;
  }

  /** @returns {Fault | null} null: connected */
  reach() {
    try {
      this.connect();
      return null;
    } catch (error) {
      return { kind: ofText(String(error)), status: 'no connection', text: String(error) };
    }
  }

  /** @param {string} operation @param {number[]} value @returns {Fault | null} null: done */
  alter(operation, value) {
    const type = `${OPERATIONS}.${operation}`;
    const bytes = encoding.b64encode(new Uint8Array(value).buffer);
    const { status, error } = this.client.invoke(
      `${SERVICE}/AlterInbound`,
      { tag: TAG, operation: { type, value: bytes } },
      { timeout: TIMEOUT },
    );
    if (status === StatusOK) return null;
    const text = /** @type {any} */ (error)?.message ?? '';
    // k6's status is an object that prints its name.
    return { kind: ofGrpc(Number(status), text), status: `gRPC ${status}`, text };
  }

  /** @param {User} user */
  add(user) {
    const account = accountOf(this.protocol, user);
    return this.alter('AddUserOperation', field(1, [...field(2, user.name), ...field(3, account)]));
  }

  /** @param {string} name */
  remove(name) {
    return this.alter('RemoveUserOperation', field(1, name));
  }

  /**
   * Removes users. A user that is gone is refused, so that only a call without an answer may leave a user.
   * @param {string[]} names @returns {number | null} how many may be left; null: the API does not answer
   */
  removeAll(names) {
    if (this.reach()) return null;
    return names.filter((name) => (this.remove(name)?.kind ?? 'bad_response') !== 'bad_response').length;
  }

  /** Names of the inbound's users. Throws if the API does not list them. @returns {string[]} */
  names() {
    const { status, error, message } = this.client.invoke(
      `${SERVICE}/GetInboundUsers`,
      { tag: TAG },
      { timeout: TIMEOUT },
    );
    if (status !== StatusOK) throw `gRPC ${status}: ${/** @type {any} */ (error)?.message ?? ''}`;
    /** @type {{ users?: { email: string }[] }} */
    const { users = [] } = message;
    return users.map(({ email }) => email);
  }
}
