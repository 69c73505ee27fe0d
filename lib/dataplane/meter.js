/**
 * The sidecar's probes and echo servers, as a script uses them (sidecar/README.md has
 * the whole API). A scenario of the data plane is nothing without the sidecar, so
 * each failure here ends the run with one line.
 */
import exec from 'k6/execution';
import { present, request } from '../sidecar.js';

/** Samples that one request fetches. */
const CHUNK = 200_000;
/** Seconds for which the sidecar may hold an answer until a probe ends. */
const PATIENCE_S = 20;

/**
 * @typedef {object} Outcome what a probe measured; sidecar/README.md
 * @property {number} duration_s in the open loop no less than the planned time
 * @property {number} attempted
 * @property {number} succeeded
 * @property {Record<string, number>} errors
 * @property {Record<string, number>} anomalies
 * @property {number} bytes of payload, one direction
 * @property {string | null} stopped
 * @property {number | null} warmup_failed operations of the warm-up; null of other probes than udp and dns
 * @property {number} [replaced] datagrams that were sent anew, because the probe was not running when their answers came
 * @property {number} probe_cpu_s
 * @property {{ name: string, count: number, kept: number }[]} series
 * @property {import('../sidecar.js').Usage | null} usage
 * @property {{ asked: number, open: number, open_all_s: number } | null} tunnels
 * @property {Record<string, { least: number, most: number | null, found: number }> | null} [far_end] what the far end
 *   counted; null where it is none of the sidecar's
 *
 * @typedef {{ values: number[], ends: number[] }} Series samples, ns, and when each ended, ms since 1970
 * @typedef {{ outcome: Outcome, values: Record<string, number[]>, ends: Record<string, number[]> }} Measured by name of a series
 * @typedef {{ id: string, tcp: string, udp: string }} Echo
 */

/** Ends the run. @param {string} line that says why @returns {never} */
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
 * The same where the sidecar may say no, in one line.
 * @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body] @param {number} [timeout] ms
 * @returns {{ answer: any, error: string | null }}
 */
export function askOrError(method, path, body, timeout) {
  if (!present()) {
    return stop(
      'SIDECAR_URL is not set: the sidecar does the raw measuring: run `make dataplane`, or start `bin/sidecar serve` and set SIDECAR_URL and SIDECAR_TOKEN',
    );
  }
  const response = request(method, path, body, timeout);
  if (response.status >= 200 && response.status < 300) return { answer: response.json(), error: null };
  if (response.status === 0) return stop(`the sidecar ended or does not answer (${response.error})`);
  return { answer: null, error: reason(response) };
}

/**
 * The same in an end phase, where the sidecar may be gone already.
 * @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body]
 * @returns {any} null where it does not answer, or not well
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

/** In teardown(), where the sidecar may be gone already. @param {string} id */
export function stopEcho(id) {
  if (present()) request('DELETE', `/echoes/${id}`);
}

/** In teardown(): ends what an interrupt left running. */
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
 * @typedef {{ error: Fault, planned: { operations: number, seconds: number } }} Nothing that could be measured; seconds
 *   0 where time does not bound it
 * @typedef {Measured | Nothing} Ended
 */

/** Why a probe ends early where it is the system's doing: what was planned and not begun has failed, too. */
const BROKEN = ['failures', 'stalled', 'control_closed'];

/** @param {Spec} spec */
function plannedOf({ count = 1, loop }) {
  return { operations: count, seconds: loop ? count / loop.open.rate_per_s : 0 };
}

/** An outcome of which nothing that was planned is missing. @param {Spec} spec @param {Outcome} outcome @returns {Outcome} */
export function wholeOf(spec, outcome) {
  const missing = plannedOf(spec).operations - outcome.attempted;
  if (missing <= 0 || !BROKEN.includes(outcome.stopped ?? '')) return outcome;
  const errors = { ...outcome.errors, cut: (outcome.errors.cut ?? 0) + missing };
  return { ...outcome, errors, attempted: outcome.attempted + missing };
}

/** Runs a probe to its end and takes its samples. @param {Spec} spec @returns {Ended} */
export const measure = (spec) => taken(spec, ask('POST', '/probes', spec).id);

/** The same for several at once, as many as the sidecar runs at most (sidecar/README.md). @param {Spec[]} specs @returns {Ended[]} */
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
      `a probe took ${short.count} samples and at most ${short.kept} are kept: ask for fewer operations, or a lower RATE`,
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
