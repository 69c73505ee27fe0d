/** The address of the proxy under test, and the CPUs of probe, far end and proxy. */
import { envChoice } from '../profiles.js';
import { askedForOptions, refuse, secret, systemEntry, wrapped } from '../environment.js';

/**
 * @typedef {{ address: string, username: string | null, password: string | null, tls?: object }} Proxy `tls` as a probe takes it
 * @typedef {object} Placement
 * @property {string} name shared, split or free: docs/explanation/dataplane.md
 * @property {string} probe_cpus a list such as 0-1; empty: not pinned
 * @property {string} echo_cpus
 * @property {string} system_cpus
 * @property {'block' | 'spin' | 'yield'} wait how a probe waits for an answer
 *
 * @typedef {object} PlaneEnvironment
 * @property {string} name
 * @property {string} url
 * @property {import('../environment.js').Connection} [connection]
 * @property {Proxy | null} proxy null where none is asked: it is transparent
 * @property {{ tcp?: string, udp?: string }} target far ends that are already up; else the sidecar starts one
 * @property {Placement} placement
 * @property {Record<string, Record<string, import('../environment.js').Bounds>>} thresholds
 */

/** The CPUs of a list such as 0-1,3. @param {string} list @returns {number[]} */
export function cpusOf(list) {
  if (!list) return [];
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(list)) return refuse(`${list}: write CPUs as 0-1,3`);
  return list.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/**
 * A testbed passes its user in variables, which override the environment file.
 * @param {string} system
 * @param {any} auth
 * @returns {Pick<Proxy, 'username' | 'password'>}
 */
function credentials(system, auth) {
  const own = system.toUpperCase();
  const prefix = __ENV[`${own}_USERNAME`] ? own : 'DATAPLANE';
  const username = __ENV[`${prefix}_USERNAME`];
  if (username) return { username, password: secret(`${prefix}_PASSWORD`, `the password of ${username}`) };
  if (auth.mode === 'none') return { username: null, password: null };
  return {
    username: auth.username,
    password: secret(auth.password_env, `the password of ${auth.username}`),
  };
}

/** Whether two lists of CPUs have a CPU in common. An empty list means all CPUs. @param {string} one @param {string} other */
export const overlaps = (one, other) =>
  !one || !other || cpusOf(one).some((cpu) => cpusOf(other).includes(cpu));

/** @returns {Placement} */
function placement() {
  /** @type {Placement} */
  const placed = {
    name: __ENV.PLACEMENT || 'free',
    probe_cpus: __ENV.PROBE_CPUS || '',
    echo_cpus: __ENV.ECHO_CPUS || '',
    system_cpus: __ENV.SYSTEM_CPUS || '',
    wait: /** @type {Placement['wait']} */ (envChoice('WAIT')),
  };
  const { wait, probe_cpus: probe, system_cpus: system } = placed;
  if (wait === 'spin' && __ENV.INSTANCE && overlaps(probe, system)) {
    return refuse(
      `WAIT=spin: probe and system share a CPU (placement ${placed.name}), and a probe that polls takes the system's time: set PLACEMENT=split, or WAIT=yield`,
    );
  }
  return placed;
}

/** @param {string} [system] whose part of the environment it is @returns {PlaneEnvironment & { proxy: Proxy }} */
export function loadPlane(system = 'dataplane') {
  const { name, own, url, connection, thresholds } = systemEntry(
    system,
    /^socks5:\/\/([^/?#@\s:]+|\[[0-9a-f:]+\]):\d+$/,
    'a URL such as socks5://127.0.0.1:1080, without credentials',
  );
  return {
    name,
    url,
    connection,
    proxy: {
      address: url.replace('socks5://', ''),
      ...credentials(system, own.auth ?? { mode: 'none' }),
      ...wrapped(connection),
    },
    target: own.target ?? {},
    placement: placement(),
    thresholds,
  };
}

/**
 * A transparent proxy between the namespaces `client` and `server` of a testbed's instance. Traffic from the client to
 * `through` passes the proxy; traffic to `routed` does not.
 * @typedef {PlaneEnvironment & { through: string, routed: string }} TransparentEnvironment
 */

const ADDRESS = /^\d{1,3}(\.\d{1,3}){3}$/;

/** @returns {TransparentEnvironment} */
export function loadTransparent() {
  const { name, url, thresholds } = systemEntry(
    'dataplane',
    /^tproxy:\/\/\d{1,3}(\.\d{1,3}){3}$/,
    'a URL such as tproxy://198.19.0.2: this scenario is for the testbeds tproxy and tproxy-pair',
    { ours: true },
  );
  const routed = __ENV.DATAPLANE_ROUTED ?? '';
  if (!askedForOptions() && (!ADDRESS.test(routed) || !__ENV.INSTANCE))
    refuse(
      "the transparent proxy runs only in its testbed's network namespaces: run `make dataplane-tproxy`",
    );
  const through = url.replace('tproxy://', '');
  return { name, url, proxy: null, target: {}, placement: placement(), thresholds, through, routed };
}
