/**
 * Reads environments/NAME.json for the variable ENV (local unless given): where a
 * system is, how to authenticate there, what is acceptable there.
 * k6/schemas/environment.schema.json describes the file.
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
import { pathOf } from './file.js';
import { defaultOf } from './variables.js';

/**
 * @typedef {{ mode: 'none' } | { mode: 'token', token: string, variable: string }
 *   | { mode: 'login', username: string, password: string, path: string }} Auth
 * @typedef {Partial<Record<'avg' | 'p(50)' | 'p(90)' | 'p(95)' | 'p(99)' | 'p(99.9)' | 'max' | 'failed' | 'errors' | 'anomalies' | 'round_trips' | 'rate', number>>} Bounds
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

/** Stops the script in its init phase with one line. @param {string} line @returns {never} */
export function refuse(line) {
  // A thrown string keeps k6 from printing a JavaScript stack behind the line.
  throw line;
}

/**
 * Whether only the options are wanted, as of a script that is asked which operations it has: then there need be no
 * system, and no bound applies.
 */
export const askedForOptions = () => __ENV.ASKED_FOR === 'options';

/** @param {string} variable @param {string} what @returns {string} */
export function secret(variable, what) {
  if (askedForOptions()) return '';
  const value = __ENV[variable];
  if (!value) return refuse(`${variable} is not set: it must hold ${what}`);
  // A bench has looked before; each VU reads it anew.
  if (__VU === 0 && /\s$/.test(value)) checkEnd(variable, value);
  return value;
}

/** Says what a secret ends in that a file or a copy leaves behind. @param {string} variable @param {string} value */
function checkEnd(variable, value) {
  const { what, never } = endsBadly(value);
  if (never) refuse(`${variable} ends in ${what}, which is no part of a secret: set it without`);
  if (what) console.warn(`${variable} ends in ${what}: set it without, unless that is part of the secret`);
}

/**
 * Where the variable ENV points: environments/NAME.json, or a file of one's own by
 * its absolute path.
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
    textOf(path) ?? refuse(`${file}: no such environment; copy environments/remote.example.json to make one`);
  // Each VU reads the file anew: what held for the first holds for all.
  const [found] = __VU > 0 ? [] : problems(text);
  if (found) refuse(`${file}: ${found}`);
  const value = JSON.parse(text);
  if (value.name !== name && !askedForOptions())
    refuse(`${file}: name: ${JSON.stringify(value.name)} is not the file's name ${name}`);
  return { file, folder: path.replace(/[^/]*$/, ''), value };
}

/** @param {string} path @returns {string | null} null where there is no such file */
function textOf(path) {
  try {
    return open(path);
  } catch {
    return null;
  }
}

/**
 * The bounds that a system's scripts bring along, with an environment's over them, bound by bound.
 * @param {string} system
 * @param {Record<string, Record<string, Bounds>>} own of the environment
 * @returns {Record<string, Record<string, Bounds>>}
 */
function boundsOf(system, own) {
  const file = `scripts/${system}/thresholds.json`;
  const text = textOf(pathOf(import.meta.resolve(`../${file}`)));
  if (text === null) return own;
  const [found] = __VU > 0 ? [] : thresholdProblems(text);
  if (found) refuse(`${file}: ${found}`);
  /** @type {Record<string, Record<string, Bounds>>} */
  const brought = JSON.parse(text);
  return Object.fromEntries(
    [...new Set([...Object.keys(brought), ...Object.keys(own)])].map((scenario) => [
      scenario,
      Object.fromEntries(
        [...new Set([...Object.keys(brought[scenario] ?? {}), ...Object.keys(own[scenario] ?? {})])].map(
          (operation) => [operation, { ...brought[scenario]?.[operation], ...own[scenario]?.[operation] }],
        ),
      ),
    ]),
  );
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
 * Whether the system, or a far end that an environment names, was up on this machine before: what it uses cannot be told
 * from what others do.
 * @param {{ url: string, connection?: Connection, target?: Record<string, string | undefined> }} environment
 * @param {boolean} own whether the scenario, or its bench, has started the system
 */
export function isForeign({ url, connection: way, target = {} }, own) {
  const far = Object.values(target).filter((address) => address !== undefined);
  return [...(own ? [] : [way?.from ?? url]), ...far].some((address) => isLoopback(hostOf(address)));
}

/** An address and nothing else: there is nothing to be tried or said. @param {string} url @returns {Connection} */
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
 * How the system is reached: by an address of its name that answers, through a proxy, with whose certificates.
 * @param {string} field of the environment, for a refusal
 * @param {string} folder of the environment file, in which relative paths begin
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
 * @param {string} url
 * @param {Record<string, string | undefined>} outputs
 * @returns {{ tls?: object }}
 */
export function wrapOf(url, outputs) {
  const own = tlsOfTestbed('dataplane', outputs);
  return own ? wrapped(connectionOf('dataplane', '', own, url)) : {};
}

/** TLS of a SOCKS5 proxy, as a probe takes it. @param {Connection} way @returns {{ tls?: object }} */
export const wrapped = ({ wrap }) => (wrap ? { tls: JSON.parse(wrap) } : {});

/**
 * The parameters of how a system is reached, and of what the shell changes of a plain `k6 run`; a bench passes nothing of that on.
 * @param {{ connection?: Connection }} environment
 */
export function wayOf({ connection: way }) {
  const settings = fromShell();
  return { ...way?.parameters, ...(settings ? { k6_settings: settings } : {}) };
}

/**
 * Why no answer came: k6's words, and of TLS what mends it.
 * @param {string} url of the environment
 * @param {{ error?: string }} response
 */
export function whyNone(url, { error = '' }) {
  const mend = /x509|tls:|certificate/i.test(error) ? tlsMend(url) : '';
  return mend ? `${error}: ${mend}` : error;
}

/** The addresses of a system's name that were tried, for a message that none took the connection. @param {Connection} [way] */
export const triedAt = (way) => (way?.tried ? ` (tried ${way.tried})` : '');

/** Refuses a host that may be put under load only with its owner's consent. @param {string} host without a port */
export function confirmHost(host) {
  if (isLoopback(host) || (__ENV.CONFIRM_REMOTE ?? '').split(',').includes(host)) return;
  refuse(`${host} is not this machine: set CONFIRM_REMOTE=${host} if you may put it under load`);
}

/**
 * Who logs in: a variable SYSTEM_USERNAME (such as PULSAR_USERNAME, which a testbed sets) comes before the file's.
 * @param {string} system
 * @param {any} auth of its entry; none where it has none
 * @param {string} loginPath unless the file gives one
 * @returns {Auth}
 */
export function readAuth(system, auth, loginPath) {
  if (!auth || auth.mode === 'none') return { mode: 'none' };
  if (auth.mode === 'token')
    return { mode: 'token', token: secret(auth.token_env, 'a bearer token'), variable: auth.token_env };
  const username = __ENV[`${system.toUpperCase()}_USERNAME`] || auth.username;
  return {
    mode: 'login',
    username,
    password: secret(auth.password_env, `the password of ${username}`),
    path: auth.login_path ?? loginPath,
  };
}

/**
 * What the environment says of one system, and where it is: a variable SYSTEM_URL
 * (such as PULSAR_URL, which a testbed sets) comes before the file's url.
 * @param {string} system
 * @param {RegExp} pattern of its URLs
 * @param {string} wanted the same in words
 * @param {{ ours: boolean }} [host] `ours`: it is in a network of the testbed's, which is no other machine's
 * @returns {{ name: string, own: any, url: string, connection: Connection, thresholds: Record<string, Record<string, Bounds>> }}
 *   name of the environment, and the system's entry as it is in the file
 */
export function systemEntry(system, pattern, wanted, host = { ours: false }) {
  const { file, folder, value } = readEnvironment(String(__ENV.ENV || defaultOf('ENV')));
  const own = value.systems[system];
  if (!own) return refuse(`${file}: systems.${system}: missing, and this scenario is about it`);
  if (askedForOptions()) return { name: value.name, own, url: '', connection: directly(''), thresholds: {} };
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
    own,
    url: way.url,
    connection: way,
    thresholds: boundsOf(system, own.thresholds ?? {}),
  };
}

/** The entry of a system that is spoken to over HTTP. @param {string} system */
export const httpEntry = (system) =>
  systemEntry(
    system,
    /^https?:\/\/[^/?#@\s]+(\/[^?#@\s]*)?$/,
    'an http or https URL without credentials, query and fragment',
  );

/**
 * A relay: a system that is spoken to over HTTP and WebSocket.
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
