/**
 * Instances of the run's own testbed with processes of their own, for what a process that has
 * done other work before cannot tell.
 */
import { wrapOf } from '../environment.js';
import { wantedLink } from '../link/link.js';
import { ask, askOrError, stop } from './meter.js';

const START_MOST_MS = 120_000;
const STOP_MOST_MS = 60_000;

/**
 * @typedef {Record<string, string | number | boolean>} Variables
 * @typedef {{ testbed: string, variables: Variables, types: Record<string, string>, instances: string[], link: string }} Found
 *   `instances` that there were before the run; `variables` of the run's own
 * @typedef {{ id: string, outputs: Record<string, string>, secret_outputs: Record<string, string> }} Started
 */

/** In setup(), of a run that was given an instance. @returns {Found} */
export function findTestbed() {
  const { testbed, variables, link } = ask('GET', `/instances/${__ENV.INSTANCE}`);
  const declared = ask('GET', '/testbeds').find((/** @type {any} */ { name }) => name === testbed).variables;
  const types = Object.fromEntries(
    Object.entries(declared).map(([name, /** @type {any} */ { type }]) => [name, type]),
  );
  const instances = ask('GET', '/instances').map((/** @type {any} */ { id }) => id);
  return { testbed, variables, types, instances, link: link?.text ?? '' };
}

/** One on free ports. @param {Found} found @param {Variables} own variables that differ from those of the run's */
function start({ testbed, variables, types, link }, own) {
  const free = Object.fromEntries(
    Object.entries(types)
      .filter(([, type]) => type === 'port')
      .map(([name]) => [name, 0]),
  );
  const body = { variables: { ...variables, ...free, ...own }, ...wantedLink(link) };
  return askOrError('POST', `/testbeds/${testbed}/start`, body, START_MOST_MS);
}

/**
 * Starts one, and stops it after use.
 * @template T
 * @param {Found} found
 * @param {Variables} own variables that differ from those of the run's
 * @param {(instance: Started) => T} use
 * @returns {{ used: T, refused: null } | { used: null, refused: string }} `refused`: why it does not start
 */
export function tryFresh(found, own, use) {
  const { answer: instance, error } = start(found, own);
  if (error !== null) return { used: null, refused: error };
  const used = use(instance);
  ask('DELETE', `/instances/${instance.id}`, undefined, STOP_MOST_MS);
  return { used, refused: null };
}

/**
 * The same with variables with which it has started before: that it does not start ends the run.
 * @template T
 * @param {Found} found @param {Variables} own @param {(instance: Started) => T} use
 * @returns {T}
 */
export function withFresh(found, own, use) {
  const { used, refused } = tryFresh(found, own, use);
  if (refused !== null) return stop(`sidecar: ${refused}`);
  return /** @type {T} */ (used);
}

/** How a probe gets through an instance. @param {Started} instance @returns {import('./environment.js').Proxy} */
export function proxyOf({ outputs, secret_outputs: secrets }) {
  const { DATAPLANE_URL: url, DATAPLANE_USERNAME: username } = outputs;
  const { DATAPLANE_PASSWORD: password = null } = secrets;
  const user = password ? { username, password } : { username: null, password: null };
  return { address: url.replace('socks5://', ''), ...user, ...wrapOf(url, outputs) };
}

/** In teardown(): ends what an interrupt left of them. @param {Found} found */
export function stopFresh({ testbed, instances }) {
  for (const { id, testbed: its } of ask('GET', '/instances')) {
    if (its === testbed && !instances.includes(id))
      ask('DELETE', `/instances/${id}`, undefined, STOP_MOST_MS);
  }
}
