/**
 * Reads environments/NAME.json for the variable ENV: where a system is, how to authenticate there, and which results are
 * acceptable. k6/schemas/environment.schema.json describes the file.
 */
import {
  connection,
  endsBadly,
  fromShell,
  isLoopback,
  problems,
  thresholdProblems,
  tlsMend,
} from 'k6/x/windtunnel/environment';
import { pathOf, textAt } from './file.js';
import { defaultOf } from './variables.js';

/**
 * @typedef {{ mode: 'none' } | { mode: 'token', token: string, variable: string }
 *   | { mode: 'login', username: string, password: string, path: string, cookie?: string }} Auth
 * @typedef {Partial<Record<string, number>>} Bounds by the names of k6/schemas/environment.schema.json
 * @typedef {import('k6/x/windtunnel/environment').Connection} Connection
 * @typedef {object} SystemEnvironment
 * @property {string} name of the environment
 * @property {string} url base URL without a trailing slash
 * @property {Connection} connection
 * @property {Auth} auth
 * @property {{ auth: 'none' | 'query' | 'subprotocol', url: string }} websocket
 * @property {'managed' | 'implicit'} topics
 * @property {Record<string, Record<string, Bounds>>} thresholds scenario, operation, bounds
 */

/** Stops the script in its init phase with a one-line message. @param {string} line @returns {never} */
export function refuse(line) {
  // k6 prints a JavaScript stack for a thrown Error, but not for a thrown string.
  throw line;
}

/**
 * Whether the script is only asked for its options, such as its operations. Then no system need exist, and no bound
 * applies.
 */
export const askedForOptions = () => __ENV.ASKED_FOR === 'options';

/** @param {string} variable @param {string} what @returns {string} */
export function secret(variable, what) {
  if (askedForOptions()) return '';
  const value = __ENV[variable];
  if (!value) return refuse(`${variable} is not set: it must hold ${what}`);
  // Each VU reads the variable again: only the first reports a problem.
  if (__VU === 0 && /\s$/.test(value)) checkEnd(variable, value);
  return value;
}

/** Refuses or warns about trailing white space, which copying a secret often adds. @param {string} variable @param {string} value */
function checkEnd(variable, value) {
  const { what, never } = endsBadly(value);
  if (never) refuse(`${variable} ends in ${what}, which is no part of a secret: set it without`);
  if (what) console.warn(`${variable} ends in ${what}: set it without, unless that is part of the secret`);
}

/**
 * The file that the variable ENV names: environments/NAME.json, or any file by its absolute path.
 * @param {string} given
 */
function locate(given) {
  const own = /^\/.*?([a-z0-9.-]+)\.json$/.exec(given);
  if (own) return { name: own[1], file: given, path: given };
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(given)) {
    return refuse(
      `ENV=${given}: neither the name of a file in environments/ nor an absolute path to a .json file`,
    );
  }
  const file = `environments/${given}.json`;
  return { name: given, file, path: pathOf(import.meta.resolve(`../${file}`)) };
}

/** @param {string} given */
function readEnvironment(given) {
  const { name, file, path } = locate(given);
  const text =
    textAt(path) ?? refuse(`${file}: no such environment; copy environments/remote.example.json to make one`);
  // Each VU reads the file again: only the first checks it.
  const [found] = __VU > 0 ? [] : problems(text);
  if (found) refuse(`${file}: ${found}`);
  const value = JSON.parse(text);
  if (value.name !== name && !askedForOptions())
    refuse(`${file}: name: ${JSON.stringify(value.name)} is not the file's name ${name}`);
  return { file, folder: path.replace(/[^/]*$/, ''), value };
}

/**
 * The bounds of a system's scripts. Bounds of the environment override single bounds.
 * @param {string} system
 * @param {Record<string, Record<string, Bounds>>} own of the environment
 * @returns {Record<string, Record<string, Bounds>>}
 */
function boundsOf(system, own) {
  const file = `scripts/${system}/thresholds.json`;
  const text = textAt(import.meta.resolve(`../${file}`));
  if (text === null) return own;
  const [found] = __VU > 0 ? [] : thresholdProblems(text);
  if (found) refuse(`${file}: ${found}`);
  /** @type {Record<string, Record<string, Bounds>>} */
  const all = JSON.parse(text);
  for (const [scenario, operations] of Object.entries(own)) {
    const brought = (all[scenario] ??= {});
    for (const [operation, bounds] of Object.entries(operations))
      brought[operation] = { ...brought[operation], ...bounds };
  }
  return all;
}

/** Whether there is more to a connection than its address. @param {{ tls?: object }} how @param {string} url */
const hasConnection = ({ tls }, url) => /^https?:/.test(url) || (tls !== undefined && /^socks5:/.test(url));

/** The host of a URL, without its port. @param {string} url */
const hostOf = (url) =>
  url
    .replace(/^[a-z0-9]+:\/\//, '')
    .replace(/[/?#].*$/, '')
    .replace(/:\d+$/, '');

/**
 * Whether the system, or a far end that an environment names, runs on this machine and was not started by the run. Its
 * CPU use then looks like the CPU use of other programs.
 * @param {{ url: string, connection?: Connection, target?: Record<string, string | undefined> }} environment
 * @param {boolean} own whether the scenario or its bench started the system
 */
export function isForeign({ url, connection: way, target = {} }, own) {
  const far = Object.values(target).filter((address) => address !== undefined);
  return [...(own ? [] : [way?.from ?? url]), ...far].some((address) => isLoopback(hostOf(address)));
}

/** A connection to an IP address without TLS and proxy settings: nothing to look up. @param {string} url @returns {Connection} */
const directly = (url) => ({
  url,
  from: url,
  options: {},
  parameters: {},
  notes: [],
  tried: '',
  wrap: '',
});

/**
 * How to reach the system: the address to use, the proxy, and the certificates.
 * @param {string} field of the environment, for the message of a refusal
 * @param {string} folder of the environment file, to which relative paths refer
 * @param {any} own the system's entry
 * @param {string} url
 * @returns {Connection}
 */
function connectionOf(field, folder, { tls, proxy, fresh }, url) {
  const isAddress = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i.test(hostOf(url));
  if (isAddress && !tls && !proxy) return directly(url);
  if (proxy) confirmHost(hostOf(proxy));
  const found = connection(JSON.stringify({ url, tls, proxy, folder, fresh }));
  return found.error ? refuse(`${field}: ${found.error}`) : found;
}

/**
 * TLS of a testbed that made its certificate: the outputs SYSTEM_CA, a file, and SYSTEM_SERVER_NAME.
 * @param {string} system
 * @param {Record<string, string | undefined>} outputs
 */
function tlsOfTestbed(system, outputs) {
  const { [`${system.toUpperCase()}_CA`]: ca, [`${system.toUpperCase()}_SERVER_NAME`]: name } = outputs;
  return ca ? { tls: { ca, ...(name && { server_name: name }) }, fresh: true } : null;
}

/**
 * TLS of the SOCKS5 proxy of a testbed that a scenario has started, as a probe takes it; none without.
 * @param {string} system
 * @param {string} url
 * @param {Record<string, string | undefined>} outputs
 * @returns {{ tls?: object }}
 */
export function wrapOf(system, url, outputs) {
  const own = tlsOfTestbed(system, outputs);
  return own ? wrapped(connectionOf(system, '', own, url)) : {};
}

/** TLS of a SOCKS5 proxy, as a probe takes it. @param {Connection} way @returns {{ tls?: object }} */
export const wrapped = ({ wrap }) => (wrap ? { tls: JSON.parse(wrap) } : {});

/**
 * Parameters of a result that say how the system was reached, and which k6 settings came from the shell. A bench passes no such settings on.
 * @param {{ connection?: Connection }} environment
 */
export function wayOf({ connection: way }) {
  const settings = fromShell();
  return { ...way?.parameters, ...(settings ? { k6_settings: settings } : {}) };
}

/**
 * Why no answer came: k6's error and, for TLS, how to fix it.
 * @param {string} url of the environment
 * @param {{ error?: string }} response
 */
export function whyNone(url, { error = '' }) {
  const mend = /x509|tls:|certificate/i.test(error) ? tlsMend(url) : '';
  return mend ? `${error}: ${mend}` : error;
}

/** The addresses tried, for a message that no address accepted the connection. @param {Connection} [way] */
export const triedAt = (way) => (way?.tried ? ` (tried ${way.tried})` : '');

/** Refuses a remote host unless CONFIRM_REMOTE names the host. @param {string} host without a port */
export function confirmHost(host) {
  if (isLoopback(host) || (__ENV.CONFIRM_REMOTE ?? '').split(',').includes(host)) return;
  refuse(`${host} is not this machine: set CONFIRM_REMOTE=${host} if you may put it under load`);
}

/**
 * How to log in. A variable SYSTEM_USERNAME (such as PULSAR_USERNAME, which a testbed sets) overrides the file.
 * @param {string} system
 * @param {any} auth of the system's entry; undefined: no authentication
 * @param {string} loginPath default path of the log-in
 * @param {string} [cookie] that the log-in sets in place of a bearer token
 * @returns {Auth}
 */
export function readAuth(system, auth, loginPath, cookie) {
  if (!auth || auth.mode === 'none') return { mode: 'none' };
  if (auth.mode === 'token')
    return { mode: 'token', token: secret(auth.token_env, 'a bearer token'), variable: auth.token_env };
  const username = __ENV[`${system.toUpperCase()}_USERNAME`] || auth.username;
  return {
    mode: 'login',
    username,
    password: secret(auth.password_env, `the password of ${username}`),
    path: auth.login_path ?? loginPath,
    cookie,
  };
}

/**
 * A system's entry in the environment, and the system's URL. A variable SYSTEM_URL (such as PULSAR_URL, which a testbed
 * sets) overrides the file's url.
 * @param {string} system
 * @param {RegExp} pattern that the URL must match
 * @param {string} wanted the pattern in words, for a message
 * @param {{ ours: boolean }} [host] `ours`: the host is in a private network of the testbed, so no confirmation is needed
 * @returns {{ name: string, folder: string, own: any, url: string, connection: Connection, thresholds: Record<string, Record<string, Bounds>> }}
 *   `name` of the environment, and the `folder` of its file; `own` is the system's entry as the file has it
 */
export function systemEntry(system, pattern, wanted, host = { ours: false }) {
  const { file, folder, value } = readEnvironment(String(__ENV.ENV || defaultOf('ENV')));
  const own = value.systems[system];
  if (!own) return refuse(`${file}: systems.${system}: missing, and this scenario is about it`);
  if (askedForOptions())
    return { name: value.name, folder, own, url: '', connection: directly(''), thresholds: {} };
  const variable = `${system.toUpperCase()}_URL`;
  const url = (__ENV[variable] || own.url || '').replace(/\/+$/, '');
  if (!url) {
    return refuse(
      `${file} starts ${system} by testbed ${own.testbed.name}: run \`make ${system}\`, or set ${variable} to one that is already up`,
    );
  }
  if (!pattern.test(url)) return refuse(`${variable}: not ${wanted}`);
  if (!host.ours) confirmHost(hostOf(url));
  const how = { ...own, ...tlsOfTestbed(system, __ENV) };
  const way = hasConnection(how, url)
    ? connectionOf(`${file}: systems.${system}`, folder, how, url)
    : directly(url);
  return {
    name: value.name,
    folder,
    own,
    url: way.url,
    connection: way,
    thresholds: boundsOf(system, own.thresholds ?? {}),
  };
}

/** The entry of a system with an HTTP API. @param {string} system */
export const httpEntry = (system) =>
  systemEntry(
    system,
    /^https?:\/\/[^/?#@\s]+(\/[^?#@\s]*)?$/,
    'an http or https URL without credentials, query and fragment',
  );

/**
 * The entry of a relay: a system with an HTTP and a WebSocket API.
 * @param {string} system
 * @returns {SystemEnvironment}
 */
export function loadSystem(system) {
  const { name, own, url, connection: way, thresholds } = httpEntry(system);
  return {
    name,
    url,
    connection: way,
    auth: readAuth(system, own.auth, '/auth/login'),
    websocket: { auth: own.websocket.auth, url: url.replace(/^http/, 'ws') + (own.websocket.path ?? '/ws') },
    topics: own.topics ?? 'managed',
    thresholds,
  };
}
