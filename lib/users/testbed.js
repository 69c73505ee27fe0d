/** The testbed `users`: its users as a probe takes them, and what a scenario starts it again with. */
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
import { stop } from '../execution.js';
import { instance } from '../sidecar.js';

/** @type {Record<string, string>} by protocol */
const METHODS = {
  shadowsocks: 'chacha20-ietf-poly1305',
  'shadowsocks-2022': '2022-blake3-aes-128-gcm',
};

/** The key of a name; Shadowsocks 2022 has another form. @param {string} seed @param {string} name */
export const keyOf = (seed, name) => crypto.hmac('sha256', seed, name, 'hex').slice(0, 32);

/**
 * The users with the keys that testbeds/users/end.py makes.
 * @param {any} started instance of the testbed, as the answer to its start has it
 * @param {number[]} places of users in the server's list, from 0; a connection for each
 * @param {number} [bytes] that each connection sends; default: the probe's payload
 */
export function usersAt({ variables, outputs, secret_outputs: secrets }, places, bytes) {
  const { protocol } = variables;
  const of2022 = protocol === 'shadowsocks-2022';
  const formed = (/** @type {string} */ name) => {
    const key = keyOf(secrets.USERS_SEED, name);
    return of2022 ? encoding.b64encode(key.slice(0, 16)) : key;
  };
  return {
    protocol: protocol.replace('-2022', ''),
    address: outputs.USERS_SERVER,
    tls: variables.tls ? { insecure: true } : undefined,
    method: METHODS[protocol],
    server_key: of2022 ? formed('server') : undefined,
    list: places.map((place) => ({ name: `user-${place}`, key: formed(`user-${place}`), bytes })),
  };
}

/** Connects to the server's gate, which starts it, or starts it again. @param {import('../dataplane/scenario.js').Plane<any>} plane @param {any} outputs of the testbed */
export const openGate = (plane, { USERS_GATE: target }) =>
  plane.measure(
    { proxy: null, instance: null, usage_window: null },
    { kind: 'handshake', warmup: 0, count: 1, target },
  );

/** In setup(): variables of the bench's testbed that a scenario starts its own servers with. @param {string} scenario */
export function baseOf(scenario) {
  const own = instance();
  if (own?.testbed !== 'users') return stop(`${scenario} starts its server itself: choose TESTBED=users:…`);
  const { engine, protocol, tls, binary } = own.variables;
  return { engine, protocol, tls, binary };
}
