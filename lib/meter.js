/**
 * Requests to the sidecar for probes and echo servers (sidecar/README.md has the whole API). A data-plane scenario cannot
 * work without the sidecar, so each failure here ends the run with a one-line message.
 */
import { probes } from 'k6/x/windtunnel/record';
import { stop } from './execution.js';
import { notePeaks } from './left-open.js';
import { present, request } from './sidecar.js';

export { stop };

/**
 * @typedef {import('../types/sidecar.d.ts').Outcome} Outcome
 * @typedef {import('k6/x/windtunnel/record').Samples & { outcome: Outcome }} Measured
 * @typedef {{ id: string, tcp: string, udp: string, destinations?: number }} Echo
 */

/** @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body] @param {number} [timeout] ms @returns {any} */
export function ask(method, path, body, timeout) {
  const { answer, error } = askOrError(method, path, body, timeout);
  return error === null ? answer : stop(`sidecar: ${error}`);
}

/**
 * ask() for a request that the sidecar may refuse with a one-line error.
 * @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body] @param {number} [timeout] ms
 * @returns {{ answer: any, error: string | null, cause?: any }} `cause`: the error for programs
 */
export function askOrError(method, path, body, timeout) {
  needSidecar();
  const { status, answer, error } = request(method, path, body, timeout);
  if (status === 0) return stop(`the sidecar ended or does not answer (${error})`);
  return error === null ? { answer, error } : { answer: null, error, cause: answer?.cause };
}

function needSidecar() {
  if (present()) return;
  stop(
    'SIDECAR_URL is not set: the sidecar does the raw measuring: run the scenario by `make`, or start `bin/sidecar serve` and set SIDECAR_URL and SIDECAR_TOKEN',
  );
}

/**
 * ask() for an end phase, in which the sidecar may have ended already.
 * @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {unknown} [body]
 * @returns {any} null without a successful answer
 */
export function tryAsk(method, path, body) {
  if (!present()) return null;
  const { answer, error } = request(method, path, body);
  return error === null ? answer : null;
}

/** Starts a probe, and does not wait for its end. @param {object} spec @returns {string} its id */
export const startProbe = (spec) => ask('POST', '/probes', spec).id;

/** Below the time-out of a request to the sidecar. */
const WAIT_S = 5;

/** Waits for the end of a started probe, and removes it. @param {string} id @returns {any} the probe; null: the sidecar does not answer */
export function tryEnd(id) {
  let probe;
  do probe = tryAsk('GET', `/probes/${id}?wait_s=${WAIT_S}`);
  while (probe?.state === 'running');
  tryAsk('DELETE', `/probes/${id}`);
  return probe;
}

/** tryEnd() where the sidecar must answer. @param {string} id @returns {any} the outcome; null: the probe failed */
export const outcomeAtEnd = (id) => (tryEnd(id) ?? stop('the sidecar ended or does not answer')).outcome;

/** @param {object} spec @returns {Echo} */
export const startEcho = (spec) => ask('POST', '/echoes', spec);

/** In teardown(): the sidecar may have ended already. @param {string} id */
export function stopEcho(id) {
  if (present()) request('DELETE', `/echoes/${id}`);
}

/** In teardown(): cancels probes that an interrupt left running. */
export function cancelProbes() {
  for (const { id, state } of tryAsk('GET', '/probes') ?? [])
    if (state === 'running') request('DELETE', `/probes/${id}`);
}

/**
 * @typedef {{ count?: number, loop?: { open: { rate_per_s: number } }, [field: string]: unknown }} Spec of a probe (sidecar/README.md)
 * @typedef {{ kind: string, message: string }} Fault
 * @typedef {{ error: Fault, planned: { operations: number, seconds: number } }} Nothing a probe without measurements;
 *   seconds 0: time does not end it
 * @typedef {Measured | Nothing} Ended
 */

/** Spec that dials and waits for the first byte. @param {number} count */
export const firstReply = (count) => ({
  kind: 'handshake',
  first_reply: true,
  payload_bytes: 64,
  warmup: 0,
  count,
});

/** Reasons for an early end that are the system's fault. Planned operations that did not start then count as failed. */
const BROKEN = ['failures', 'stalled', 'control_closed'];

/** An outcome in which missing planned operations count as errors. @param {number} planned @param {Outcome} outcome @returns {Outcome} */
export function wholeOf(planned, outcome) {
  const missing = planned - outcome.attempted;
  if (missing <= 0 || !BROKEN.includes(outcome.stopped ?? '')) return outcome;
  const errors = { ...outcome.errors, cut: (outcome.errors.cut ?? 0) + missing };
  return { ...outcome, errors, attempted: outcome.attempted + missing };
}

/** Runs a probe to its end. @param {Spec} spec @returns {Ended} */
export const measure = (spec) => measureAll([spec])[0];

/** Runs several probes at once. sidecar/README.md has the maximum. @param {Spec[]} specs @returns {Ended[]} */
export function measureAll(specs) {
  needSidecar();
  return probes(specs).map((probe, index) => {
    // Callers ask whether there is an `error`, and a probe with an outcome has null.
    const { state, outcome, error, planned: operations, ...measured } = probe;
    if (outcome) {
      notePeaks(String(specs[index].instance), outcome.usage);
      return { ...measured, outcome: wholeOf(operations, outcome) };
    }
    const { loop } = specs[index];
    return {
      error: error ?? { kind: 'network', message: `the probe was ${state}` },
      planned: { operations, seconds: loop ? operations / loop.open.rate_per_s : 0 },
    };
  });
}
