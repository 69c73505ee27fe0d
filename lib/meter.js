/**
 * Requests to the sidecar for probes and echo servers (sidecar/README.md has the whole API). A data-plane scenario cannot
 * work without the sidecar, so each failure here ends the run with a one-line message.
 */
import exec from 'k6/execution';
import { present, request } from './sidecar.js';

/** Samples per request. */
const CHUNK = 200_000;
/** Longest time that the sidecar may hold an answer back until a probe ends, s. */
const PATIENCE_S = 20;

/**
 * @typedef {object} Outcome measurements of a probe; sidecar/README.md
 * @property {number} duration_s in the open loop at least the planned time
 * @property {number} attempted
 * @property {number} succeeded
 * @property {Record<string, number>} errors
 * @property {Record<string, number>} anomalies
 * @property {string} [other_source] the last sender, other than the relay, of an answer
 * @property {number} bytes of payload in one direction
 * @property {string | null} stopped
 * @property {number | null} warmup_failed failed operations of the warm-up; null except for probes udp and dns
 * @property {number} [replaced] datagrams that were sent again because the probe was not running when the answers came
 * @property {number} probe_cpu_s
 * @property {{ name: string, count: number, kept: number }[]} series
 * @property {import('./sidecar.js').Usage | null} usage
 * @property {{ asked: number, open: number, open_all_s: number } | null} tunnels
 * @property {Record<string, { least: number, most: number | null, found: number }> | null} [far_end] counts of the far end;
 *   null if the far end is not the sidecar's
 *
 * @typedef {{ values: number[], ends: number[] }} Series samples, ns, and when each ended, ms since 1970
 * @typedef {{ outcome: Outcome, values: Record<string, number[]>, ends: Record<string, number[]> }} Measured by name of a series
 * @typedef {{ id: string, tcp: string, udp: string }} Echo
 */

/** Aborts the run. @param {string} line the reason @returns {never} */
export function stop(line) {
  exec.test.abort(line);
  throw new Error(line);
}

/** @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body] @param {number} [timeout] ms @returns {any} */
export function ask(method, path, body, timeout) {
  const { answer, error } = askOrError(method, path, body, timeout);
  return error === null ? answer : stop(`sidecar: ${error}`);
}

/**
 * ask() for a request that the sidecar may refuse with a one-line error.
 * @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body] @param {number} [timeout] ms
 * @returns {{ answer: any, error: string | null }}
 */
export function askOrError(method, path, body, timeout) {
  if (!present()) {
    return stop(
      'SIDECAR_URL is not set: the sidecar does the raw measuring: run the scenario by `make`, or start `bin/sidecar serve` and set SIDECAR_URL and SIDECAR_TOKEN',
    );
  }
  const response = request(method, path, body, timeout);
  if (response.status >= 200 && response.status < 300) return { answer: response.json(), error: null };
  if (response.status === 0) return stop(`the sidecar ended or does not answer (${response.error})`);
  return { answer: null, error: reason(response) };
}

/**
 * ask() for an end phase, in which the sidecar may have ended already.
 * @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body]
 * @returns {any} null without a successful answer
 */
export function tryAsk(method, path, body) {
  if (!present()) return null;
  const response = request(method, path, body);
  return response.status >= 200 && response.status < 300 ? response.json() : null;
}

/** @param {import('k6/http').RefinedResponse<'text'>} response */
function reason(response) {
  try {
    const { error, mend } = /** @type {any} */ (response.json());
    return mend ? `${error}; ${mend}` : error;
  } catch {
    return `HTTP ${response.status}`;
  }
}

/** @param {object} spec @returns {Echo} */
export const startEcho = (spec) => ask('POST', '/echoes', spec);

/** In teardown(): the sidecar may have ended already. @param {string} id */
export function stopEcho(id) {
  if (present()) request('DELETE', `/echoes/${id}`);
}

/** In teardown(): cancels probes that an interrupt left running. */
export function cancelProbes() {
  if (!present()) return;
  const response = request('GET', '/probes');
  if (response.status !== 200) return;
  const probes = /** @type {any[]} */ (/** @type {unknown} */ (response.json()));
  for (const { id, state } of probes) if (state === 'running') request('DELETE', `/probes/${id}`);
}

/** All kept samples of a series. @param {string} id @param {{ name: string, kept: number }} series @returns {Series} */
function fetchSeries(id, { name, kept }) {
  /** @type {number[]} */
  const values = [];
  /** @type {number[]} */
  const ends = [];
  while (values.length < kept) {
    const path = `/probes/${id}/series/${name}?from=${values.length}&limit=${CHUNK}`;
    const { values: chunk, ends_unix_us: ended } = ask('GET', path);
    if (chunk.length === 0)
      return stop(`sidecar: series ${name} ends at ${values.length} of ${kept} samples`);
    for (const value of chunk) values.push(value);
    for (const us of ended) ends.push(us / 1000);
  }
  return { values, ends };
}

/**
 * @typedef {{ count?: number, loop?: { open: { rate_per_s: number } }, [field: string]: unknown }} Spec of a probe
 *   (sidecar/README.md)
 * @typedef {{ kind: string, message: string }} Fault
 * @typedef {{ error: Fault, planned: { operations: number, seconds: number } }} Nothing a probe without measurements;
 *   seconds 0: time does not end it
 * @typedef {Measured | Nothing} Ended
 */

/** Reasons for an early end that are the system's fault. Planned operations that did not start then count as failed. */
const BROKEN = ['failures', 'stalled', 'control_closed'];

/** @param {Spec} spec */
function plannedOf({ count = 1, loop }) {
  return { operations: count, seconds: loop ? count / loop.open.rate_per_s : 0 };
}

/** An outcome in which missing planned operations count as errors. @param {Spec} spec @param {Outcome} outcome @returns {Outcome} */
export function wholeOf(spec, outcome) {
  const missing = plannedOf(spec).operations - outcome.attempted;
  if (missing <= 0 || !BROKEN.includes(outcome.stopped ?? '')) return outcome;
  const errors = { ...outcome.errors, cut: (outcome.errors.cut ?? 0) + missing };
  return { ...outcome, errors, attempted: outcome.attempted + missing };
}

/** Runs a probe to its end and fetches its samples. @param {Spec} spec @returns {Ended} */
export const measure = (spec) => taken(spec, ask('POST', '/probes', spec).id);

/** Runs several probes at once. sidecar/README.md has the maximum. @param {Spec[]} specs @returns {Ended[]} */
export const measureAll = (specs) =>
  specs.map((spec) => ask('POST', '/probes', spec).id).map((id, index) => taken(specs[index], id));

/** @param {Spec} spec @param {string} id of its probe @returns {Ended} */
function taken(spec, id) {
  const probe = followed(id);
  if (!probe.outcome) {
    ask('DELETE', `/probes/${id}`);
    const error = probe.error ?? { kind: 'network', message: `the probe was ${probe.state}` };
    return { error, planned: plannedOf(spec) };
  }
  const outcome = wholeOf(spec, probe.outcome);
  const short = outcome.series.find((/** @type {any} */ { count, kept }) => kept < count);
  if (short) {
    return stop(
      `a probe took ${short.count} samples, but at most ${short.kept} are kept: set fewer operations or a lower RATE`,
    );
  }
  /** @type {[string, Series][]} */
  const fetched = outcome.series.map((/** @type {any} */ series) => [series.name, fetchSeries(id, series)]);
  ask('DELETE', `/probes/${id}`);
  const each = (/** @type {'values' | 'ends'} */ list) =>
    Object.fromEntries(fetched.map(([name, series]) => [name, series[list]]));
  return { outcome, values: each('values'), ends: each('ends') };
}

/** @param {string} id */
function followed(id) {
  for (;;) {
    const probe = ask('GET', `/probes/${id}?wait_s=${PATIENCE_S}`, undefined, (PATIENCE_S + 10) * 1000);
    if (probe.state !== 'running') return probe;
  }
}
