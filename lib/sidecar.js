/**
 * Requests to the sidecar's API: the machine, the testbed, and the CPU and memory of processes over a measuring window.
 * Without SIDECAR_URL every answer is null, and the result says that processes were not measured.
 */
import { request as send } from 'k6/x/windtunnel/record';

/**
 * @typedef {import('../types/sidecar.d.ts').Usage} Usage
 * @typedef {import('../types/sidecar.d.ts').AtRest} AtRest
 * @typedef {{ testbed: string, variables: Record<string, string | number | boolean>, versions: Record<string, string> }} Instance
 */

const base = __ENV.SIDECAR_URL;
const TIMEOUT_MS = 10_000;

/** Whether there is a sidecar to ask. */
export const present = () => Boolean(base);

/**
 * Sends one request to the sidecar's API (sidecar/README.md).
 * @param {'GET' | 'POST' | 'DELETE'} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {number} [timeout] ms
 */
export const request = (method, path, body, timeout = TIMEOUT_MS) => send(method, path, body, timeout);

/** @param {'GET' | 'POST'} method @param {string} path @param {unknown} [body] @param {number} [seconds] that the answer takes @returns {any} */
function ask(method, path, body, seconds = 0) {
  if (!base) return null;
  const response = request(method, path, body, TIMEOUT_MS + seconds * 1000);
  if (response.error === null) return response.answer;
  console.warn(
    `sidecar ${path}: ${response.status || response.error}: processes are not measured in this run`,
  );
  return null;
}

/**
 * Opens a measuring window over the testbed's processes and this k6.
 * @param {string | null} instance of the testbed
 * @param {boolean} [paused] the window runs only while a probe that names it measures, and includes the sidecar
 * @returns {string | null} the window's id
 */
export function openWindow(instance, paused = false) {
  const pid = Number(__ENV.GENERATOR_PID);
  const opened = ask('POST', '/windows', {
    instance,
    pids: pid ? { k6: pid } : {},
    by_cpu: true,
    ...(paused ? { paused, sidecar: true } : {}),
  });
  return opened ? opened.id : null;
}

/**
 * Opens a window over an instance's processes alone. The sidecar samples the processes.
 * @param {string} instance
 * @returns {string | null} the window's id
 */
export const openSystemWindow = (instance) => ask('POST', '/windows', { instance })?.id ?? null;

/**
 * Opens a window for CPU time alone: the sidecar reads the processes only at each request.
 * @param {string} instance
 * @returns {string | null} the window's id
 */
export const openCpuWindow = (instance) => ask('POST', '/windows', { instance, peaks: false })?.id ?? null;

/** @param {string | null} id */
export function closeWindow(id) {
  if (id) ask('POST', `/windows/${id}/close`, {});
}

/**
 * Waits for a quiet period after the load of a closed window, if the window has a system.
 * @param {string | null} id
 * @param {import('../types/sidecar.d.ts').Calm} calm
 */
export function awaitQuietPeriod(id, calm) {
  if (id) ask('POST', `/windows/${id}/quiet`, calm, Math.max(calm.seconds, calm.rest_s, calm.settle_s));
}

/** @param {string | null | undefined} id @returns {Usage | null} */
export const usageOf = (id) => (id ? ask('GET', `/windows/${id}`) : null);

/** The limits of the system's processes: runs with other limits are not compared. @param {Usage | null} usage @returns {Record<string, string>} */
export const limitParameter = (usage) => (usage?.limits?.system ? { limits: usage.limits.system.text } : {});

/**
 * Samples an instance's processes while nothing is sent.
 * @param {string | null | undefined} id
 * @param {number} seconds
 * @returns {AtRest[] | null} null if not measured
 */
export const atRest = (id, seconds) =>
  id && seconds > 0 ? (ask('POST', `/instances/${id}/rest`, { seconds }, seconds)?.processes ?? null) : null;

/** @returns {Instance | null} */
export const instance = () => (__ENV.INSTANCE ? ask('GET', `/instances/${__ENV.INSTANCE}`) : null);

/** @returns {import('../types/sidecar.d.ts').Host | null} */
export const host = () => ask('GET', '/host');
