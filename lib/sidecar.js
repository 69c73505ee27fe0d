/**
 * Requests to the sidecar's API: the machine, the testbed, and the CPU and memory of processes over a measuring window.
 * Without SIDECAR_URL every answer is null, and the result says that processes were not measured.
 */
import { request as send } from 'k6/x/windtunnel/record';

/**
 * @typedef {{ name: string, role: 'system' | 'support' | 'generator', cpu_s: number, cpu_percent: number, peak_rss_bytes: number, peak_anon_bytes: number,
 *   peak_open_files: number | null, voluntary_switches?: number, exit: string | null, exit_after_s?: number | null }} ProcessUsage `exit_after_s` counts from the
 *   opening of the window; a window without peaks has no `voluntary_switches`
 * @typedef {{ duration_s: number, host: { cpus: number | null, busy_percent: number | null, by_cpu?: import('k6/x/windtunnel/judge').CpuUsage[] }, processes: ProcessUsage[],
 *   total: { cpu_s: number, cpu_percent: number, peak_rss_bytes: number, peak_anon_bytes: number, peak_open_files: number | null },
 *   repeated?: import('k6/x/windtunnel/judge').Part[], at_rest?: AtRest[],
 *   limits?: { system: { text: string } | null } }} Usage `at_rest` is from the quiet period
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
 * A quiet period.
 * @typedef {object} Calm
 * @property {number} seconds its length
 * @property {number} rest_s time for which the idle processes are sampled at least, s; 0: no sampling
 * @property {number} settle_s the longest time after the load in which the system may close its descriptors, s
 * @property {boolean} closes_all whether the system must close its files too, and not only its connections
 */

/**
 * Waits for a quiet period after the load of a closed window, if the window has a system.
 * @param {string | null} id
 * @param {Calm} calm
 */
export function awaitQuietPeriod(id, calm) {
  if (id) ask('POST', `/windows/${id}/quiet`, calm, Math.max(calm.seconds, calm.rest_s, calm.settle_s));
}

/** @param {string | null | undefined} id @returns {Usage | null} */
export const usageOf = (id) => (id ? ask('GET', `/windows/${id}`) : null);

/** The limits of the system's processes: runs with other limits are not compared. @param {Usage | null} usage @returns {Record<string, string>} */
export const limitParameter = (usage) => (usage?.limits?.system ? { limits: usage.limits.system.text } : {});

/** @typedef {{ name: string, cpu_percent: number, wakeups_per_s: number }} AtRest of an idle process; CPU in percent of one CPU */

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

/** @returns {{ os: string, kernel: string, cpu_model: string, cpus: number | null, memory_bytes: number | null } | null} */
export const host = () => ask('GET', '/host');
