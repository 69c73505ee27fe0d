/** What transfers of rows, and of the link alone, do while the link changes. */
import { said, say } from 'k6/x/windtunnel/record';
import { knownErrors, recordErrors, recordSeries } from '../dataplane/probe-operation.js';
import { operationOf } from '../protocols/row-operation.js';
import { madeAt, timetableOf } from './changes.js';
import { controlOf } from './controls.js';
import { rttSeconds } from './link.js';
import { goesOn, withControl, withRow } from './one-row.js';
import { queueFrom } from './over-time.js';
import { BEFORE_S, bytesLost, mbitBetween, recoveryOf } from './recovery.js';
import { flowOf } from './way.js';

/** Tunnels beside the transfer that hardly carry anything, and how many requests each has a second: users have many such. */
const QUIET = { tunnels: 4, requests_per_s: 2 };
/** The transfer's own requests: by them alone a client knows how much has come upwards. */
const REQUESTS_PER_S = 10;
/** Round trips that a tunnel takes to open and its transfer to come to speed, before the first second counts. */
const TRIPS_BEFORE = 20;
/** Length of a point of the course, s. */
const STEP_S = 0.5;
/** That a tunnel dies, or is silent for long, is what is measured and no error of the row. */
const EXPECTED = ['timeout', 'cut', 'stalled', 'closed', 'connection_reset'];

/**
 * @typedef {import('./changes.js').Change} Change
 * @typedef {{ at_s: number, after_s: number }} Sizes when a change begins, after the link's start, and how long is looked at it once it is over
 *
 * @typedef {{ from_s: number, mbit: number, queue_kib: number }} Step of a course: from_s after the change began; the most that the queue held
 *
 * @typedef {object} Met what a transfer did around a change
 * @property {import('./recovery.js').Recovery} recovery
 * @property {number} died of all tunnels, the quiet ones too
 * @property {number} tunnels
 * @property {number} lost_bytes of the transfer, with a tunnel that died
 * @property {number | null} quiet_most_ms the longest that a request of a quiet tunnel took, of those that were answered
 * @property {Step[]} course
 */

/** What was said of a way begins so; no row is called so. */
const PREFIX = '-changed ';

/** @type {Map<string, Record<string, (Met | null)[]>>} of this VU, by operation */
const kept = new Map();

/** @param {string} operation @param {string} change @param {Met | null} met null: nothing could be told */
function keepMet(operation, change, met) {
  const own = kept.get(operation) ?? {};
  kept.set(operation, own);
  (own[change] ??= []).push(met);
  say(PREFIX + operation, own);
}

/** In handleSummary. @param {string} operation @returns {Record<string, (Met | null)[]>} by change, one a round */
export const metSaid = (operation) => said()[PREFIX + operation] ?? {};

/** Those that the run's link can have. @param {import('../dataplane/scenario.js').Plane['data']['link']} link @param {Change[]} changes */
export const possible = (link, changes) =>
  changes.filter((change) => link && timetableOf(change, link.about.settings, 0) !== null);

/**
 * @param {import('./way.js').Way} way
 * @param {Change} change
 * @param {Sizes} sizes
 * @param {string} [congestion]
 * @returns {import('./lockstep.js').Steps<import('./one-row.js').Use<Met | null>>}
 */
function meet(way, change, { at_s, after_s: after }, congestion) {
  const { about } = /** @type {import('./link.js').Calibrated} */ (way.plane.data.link);
  const at = at_s + Math.ceil(TRIPS_BEFORE * rttSeconds({ about }) * 10) / 10;
  const seconds = at + change.lasts + after;
  const flow = { seconds, ...(congestion ? { congestion } : {}) };
  const specs = [
    { connections: 1, flow: { ...flow, direction: 'down', requests_per_s: REQUESTS_PER_S } },
    {
      connections: QUIET.tunnels,
      flow: { ...flow, direction: 'neither', requests_per_s: QUIET.requests_per_s },
    },
  ];
  return way.withFlows(function* (far) {
    const [full, beside] = specs.map((spec) => ({ kind: 'flow', limit_s: seconds + 60, ...spec }));
    const all = [way.spec(full, far), way.beside(beside, far)];
    // Others that are measured in step have started by then: the timetable begins with the restart.
    yield [];
    way.restart(String(timetableOf(change, about.settings, at)));
    const [transfer, quiet] = (yield all).map((one) => way.taken(one, EXPECTED));
    const found = metOf(change, flowOf(transfer), quiet, way);
    return { found, missing: missingOf(found) };
  });
}

/**
 * @param {Change} change
 * @param {any} own flow of the transfer; null where it was not measured
 * @param {import('../dataplane/meter.js').Measured | null} quiet
 * @param {import('./way.js').Way} way
 * @returns {Met | null}
 */
function metOf(change, own, quiet, way) {
  const link = way.overTime();
  const made = own && madeAt(change, link, own.began_unix_us);
  // A tunnel that was open too late has no time before the change.
  if (!made || made.at < BEFORE_S) return null;
  const course = { bytes: own.bytes, bucketS: own.bucket_ms / 1000 };
  const tunnels = [...own.tunnels, ...(flowOf(quiet)?.tunnels ?? [])];
  const bits = way.rate('down');
  const waited = quiet?.values.round_trip ?? [];
  return {
    recovery: recoveryOf(course, { ...made, rate: change.rate, lineMbit: bits && bits / 1e6 }),
    died: tunnels.filter(({ died }) => died).length,
    tunnels: tunnels.length,
    lost_bytes: bytesLost(own.tunnels),
    quiet_most_ms: waited.length > 0 ? Math.max(...waited) / 1e6 : null,
    course: stepsOf(course, link, made.at, own.began_unix_us),
  };
}

/**
 * A course in steps that begin with the change: whole ones only.
 * @param {import('./recovery.js').Course} course
 * @param {import('./over-time.js').OverTime} link
 * @param {number} at when the change was made, s after the course began
 * @param {number} beganUnixUs when the course did
 * @returns {Step[]}
 */
export function stepsOf(course, link, at, beganUnixUs) {
  const lasted = course.bytes.length * course.bucketS;
  const [first, last] = [-Math.floor(at / STEP_S), Math.floor((lasted - at) / STEP_S)];
  const samples = Math.round((STEP_S * 1000) / link.every_ms);
  return Array.from({ length: last - first }, (_, index) => {
    const from = (first + index) * STEP_S;
    const queue = queueFrom(link, 'down', beganUnixUs + (at + from) * 1e6, samples);
    return {
      from_s: from,
      mbit: mbitBetween(course, at + from, at + from + STEP_S),
      queue_kib: Math.max(...queue) / 1024,
    };
  });
}

/** The time to recover is the latency of the operation; a transfer that did not recover, and each tunnel that died, has failed. @param {string} operation @param {Met} met */
function recordMet(operation, { recovery: { recoveredS }, died }) {
  recordErrors(operation, knownErrors({ closed: died, stalled: recoveredS === null ? 1 : 0 }));
  if (recoveredS === null) return;
  recordSeries(operation, {
    values: { round_trip: [recoveredS * 1e9] },
    ends: { round_trip: [Date.now()] },
  });
}

/** @param {Met | null} met @returns {string | undefined} */
function missingOf(met) {
  if (!met) return 'the transfer, or the change of its link, could not be followed';
  return met.recovery.before > 0 ? undefined : 'nothing came before the link changed';
}

/**
 * Each change meets processes that were started for it.
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {import('./batch.js').Entry} entry
 * @param {Change[]} changes
 * @param {Sizes} sizes
 * @param {string} link
 * @returns {import('./lockstep.js').Steps<void>}
 */
export function* changeRow(plane, entry, changes, sizes, link) {
  const operation = operationOf(entry.row.row, entry.side);
  for (const change of possible(plane.data.link, changes)) {
    if (!goesOn(entry.row.row)) return;
    const met = yield* withRow(plane, entry, { log: change.name, link }, (way) => meet(way, change, sizes));
    keepMet(operation, change.name, met);
    if (met) recordMet(operation, met);
  }
}

/**
 * Each change meets a link of its own.
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {{ side: import('../protocols/sides.js').Side, congestion: string }} control
 * @param {Change[]} changes
 * @param {Sizes} sizes
 * @param {string} link
 * @returns {import('./lockstep.js').Steps<void>}
 */
export function* changeControl(plane, { side, congestion }, changes, sizes, link) {
  for (const change of possible(plane.data.link, changes)) {
    const met = yield* withControl(plane, { side, congestion, link }, (way) =>
      meet(way, change, sizes, congestion),
    );
    keepMet(controlOf(congestion), change.name, met);
    if (met) recordMet(controlOf(congestion), met);
  }
}
