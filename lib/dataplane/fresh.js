/** Starts new instances of the run's testbed, for measurements that need a process without a history. */
import { wrapOf } from '../environment.js';
import { noteLeft, overLink } from '../left-open.js';
import { wantedLink } from '../link.js';
import { ask, askOrError, stop } from '../meter.js';

const START_MOST_MS = 120_000;
const STOP_MOST_MS = 60_000;

/**
 * @typedef {Record<string, string | number | boolean>} Variables
 * @typedef {{ testbed: string, variables: Variables, types: Record<string, string>, instances: string[], link: string }} Found
 *   `instances` that existed before the run; `variables` of the run's instance
 * @typedef {Found & { limits?: string }} Wanted `limits` of the system's processes, in place of those of the run
 * @typedef {{ id: string, outputs: Record<string, string>, secret_outputs: Record<string, string>, versions: Record<string, string> }} Started
 */

/** In setup(): the testbed of the variable INSTANCE. @returns {Found} */
export function findTestbed() {
  const { testbed, variables, link } = ask('GET', `/instances/${__ENV.INSTANCE}`);
  const declared = ask('GET', '/testbeds').find((/** @type {any} */ { name }) => name === testbed).variables;
  const types = Object.fromEntries(
    Object.entries(declared).map(([name, /** @type {any} */ { type }]) => [name, type]),
  );
  const instances = ask('GET', '/instances').map((/** @type {any} */ { id }) => id);
  return { testbed, variables, types, instances, link: link?.text ?? '' };
}

/** Starts an instance on free ports. @param {Wanted} wanted @param {Variables} overrides variables that differ from the run's instance */
function start({ testbed, variables, types, link, limits }, overrides) {
  const free = Object.fromEntries(
    Object.entries(types)
      .filter(([, type]) => type === 'port')
      .map(([name]) => [name, 0]),
  );
  const body = { variables: { ...variables, ...free, ...overrides }, ...wantedLink(link), limits };
  return askOrError('POST', `/testbeds/${testbed}/start`, body, START_MOST_MS);
}

/**
 * Starts an instance, calls `use`, and stops the instance.
 * @template T
 * @param {Wanted} found
 * @param {Variables} overrides variables that differ from the run's instance
 * @param {(instance: Started) => T} use
 * @returns {{ used: T, refused: null, cause?: undefined } | { used: null, refused: string, cause?: any }} `refused`: why the instance does not
 *   start, `cause`: the same for programs (sidecar/README.md)
 */
export function tryFresh(found, overrides, use) {
  const { answer: instance, error, cause } = start(found, overrides);
  if (error !== null) return { used: null, refused: error, cause };
  const used = use(instance);
  end(found, overrides, instance);
  return { used, refused: null };
}

/** @param {Wanted} found @param {Variables} overrides @param {Started} instance */
function end({ testbed, link, limits }, overrides, { id, versions }) {
  const step = Object.entries(overrides).map(([name, value]) => `${name}=${value}`);
  const name = [testbed, ...step, limits].filter(Boolean).join(', ');
  // In little memory a program may be slow.
  noteLeft([{ name, id, versions, unjudged: limits ? 'inside of limits' : overLink(link) }]);
  ask('DELETE', `/instances/${id}`, undefined, STOP_MOST_MS);
}

/**
 * tryFresh() with variables that worked before: if the instance does not start, the run ends.
 * @template T
 * @param {Found} found @param {Variables} overrides @param {(instance: Started) => T} use
 * @returns {T}
 */
export function withFresh(found, overrides, use) {
  const { used, refused } = tryFresh(found, overrides, use);
  if (refused !== null) return stop(`sidecar: ${refused}`);
  return /** @type {T} */ (used);
}

/**
 * withFresh() with a `use` that is asynchronous.
 * @param {Found} found @param {Variables} overrides @param {(instance: Started) => Promise<void>} use
 */
export async function awaitFresh(found, overrides, use) {
  const { answer: instance, error } = start(found, overrides);
  if (error !== null) stop(`sidecar: ${error}`);
  await use(instance);
  end(found, overrides, instance);
}

/** Address and login of an instance's proxy. @param {Started} instance @returns {import('./environment.js').Proxy} */
export function proxyOf({ outputs, secret_outputs: secrets }) {
  const { DATAPLANE_URL: url, DATAPLANE_USERNAME: username } = outputs;
  const { DATAPLANE_PASSWORD: password = null } = secrets;
  const user = password ? { username, password } : { username: null, password: null };
  return { address: url.replace('socks5://', ''), ...user, ...wrapOf('dataplane', url, outputs) };
}

/** In teardown(): stops instances that an interrupt left running. @param {Found} found */
export function stopFresh({ testbed, instances }) {
  for (const { id, testbed: its } of ask('GET', '/instances')) {
    if (its === testbed && !instances.includes(id))
      ask('DELETE', `/instances/${id}`, undefined, STOP_MOST_MS);
  }
}
