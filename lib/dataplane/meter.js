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
 * @property {number} duration_s
 * @property {number} attempted
 * @property {number} succeeded
 * @property {Record<string, number>} errors
 * @property {Record<string, number>} anomalies
 * @property {number} bytes of payload, one direction
 * @property {string | null} stopped
 * @property {number | null} warmup_failed operations of the warm-up; null of other probes than udp and dns
 * @property {number} probe_cpu_s
 * @property {{ name: string, count: number, kept: number }[]} series
 * @property {import('../sidecar.js').Usage | null} usage
 * @property {{ asked: number, open: number, open_all_s: number } | null} tunnels
 *
 * @typedef {{ outcome: Outcome, values: Record<string, number[]> }} Measured series in ns
 * @typedef {{ id: string, tcp: string, udp: string }} Echo
 */

/** @param {string} line @returns {never} */
function stop(line) {
  exec.test.abort(line);
  throw new Error(line);
}

/** @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body] @param {number} [timeout] ms @returns {any} */
export function ask(method, path, body, timeout) {
  if (!present()) {
    return stop(
      'SIDECAR_URL is not set: the sidecar does the raw measuring: run `make dataplane`, or start `bin/sidecar serve` and set SIDECAR_URL and SIDECAR_TOKEN',
    );
  }
  const response = request(method, path, body, timeout);
  if (response.status >= 200 && response.status < 300) return response.json();
  if (response.status === 0) return stop(`the sidecar ended or does not answer (${response.error})`);
  return stop(`sidecar: ${reason(response)}`);
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

/** All kept samples of a series, ns. @param {string} id @param {{ name: string, kept: number }} series @returns {number[]} */
function fetchSeries(id, { name, kept }) {
  /** @type {number[]} */
  const values = [];
  while (values.length < kept) {
    const path = `/probes/${id}/series/${name}?from=${values.length}&limit=${CHUNK}`;
    const chunk = ask('GET', path).values;
    if (chunk.length === 0)
      return stop(`sidecar: series ${name} ends at ${values.length} of ${kept} samples`);
    for (const value of chunk) values.push(value);
  }
  return values;
}

/** @typedef {Measured | { error: { kind: string, message: string } }} Ended */

/** Runs a probe to its end and takes its samples. @param {object} spec @returns {Ended} */
export const measure = (spec) => taken(ask('POST', '/probes', spec).id);

/** The same for several at once, four at most. @param {object[]} specs @returns {Ended[]} */
export const measureAll = (specs) =>
  specs.map((spec) => ask('POST', '/probes', spec).id).map((id) => taken(id));

/** @param {string} id of a probe @returns {Ended} */
function taken(id) {
  const probe = followed(id);
  if (!probe.outcome) {
    ask('DELETE', `/probes/${id}`);
    return { error: probe.error ?? { kind: 'network', message: `the probe was ${probe.state}` } };
  }
  const { outcome } = probe;
  const cut = outcome.series.find((/** @type {any} */ { count, kept }) => kept < count);
  if (cut) {
    return stop(
      `a probe took ${cut.count} samples and at most ${cut.kept} are kept: ask for fewer operations, or a lower RATE`,
    );
  }
  const values = Object.fromEntries(
    outcome.series.map((/** @type {any} */ series) => [series.name, fetchSeries(id, series)]),
  );
  ask('DELETE', `/probes/${id}`);
  return { outcome, values };
}

/** @param {string} id */
function followed(id) {
  for (;;) {
    const probe = ask('GET', `/probes/${id}?wait_s=${PATIENCE_S}`, undefined, (PATIENCE_S + 10) * 1000);
    if (probe.state !== 'running') return probe;
  }
}
