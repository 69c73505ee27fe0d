/** Transfers through rows, and over the link alone, while the link changes. */
import { knownErrors, recordErrors, recordSeries } from '../dataplane/probe-operation.js';
import { listsOf, noteBy } from '../notes.js';
import { operationOf } from '../protocols/row-operation.js';
import { madeAt, timetableOf } from './changes.js';
import { controlOf } from './controls.js';
import { rttSeconds } from '../link.js';
import { goesOn, withControl, withRow } from './one-row.js';
import { queueFrom } from './over-time.js';
import { BEFORE_S, bytesLost, mbitBetween, recoveryOf } from './recovery.js';
import { flowOf } from './way.js';

/** Almost idle tunnels beside the transfer, and their requests per second each. Real users have many such tunnels. */
const QUIET = { tunnels: 4, requests_per_s: 2 };
/** Requests of the transfer per second. Only the answers show a client how much has arrived upwards. */
const REQUESTS_PER_S = 10;
/** Round trips that a tunnel needs to open and to reach full speed, before measurements begin. */
const TRIPS_BEFORE = 20;
/** Resolution of the course, s. */
const STEP_S = 0.5;
/** Kinds that are measured results instead of errors: a tunnel may die or be silent. */
const EXPECTED = ['timeout', 'cut', 'stalled', 'closed', 'connection_reset'];

/**
 * @typedef {import('./changes.js').Change} Change
 * @typedef {{ at_s: number, after_s: number }} Sizes start of a change after the link's start, and how long the transfer is observed after the change
 *
 * @typedef {{ from_s: number, mbit: number, queue_kib: number }} Step of a course: from_s after the change began; queue_kib is the largest queue
 *
 * @typedef {object} Met a transfer around a change
 * @property {import('./recovery.js').Recovery} recovery
 * @property {number} died tunnels that died, including quiet ones
 * @property {number} tunnels
 * @property {number} lost_bytes bytes of the transfer lost with tunnels that died
 * @property {number | null} quiet_most_ms slowest answered request of a quiet tunnel
 * @property {Step[]} course
 */

/** Prefix of the names of these notes. No row has it. */
const PREFIX = '-changed ';

/** @param {string} operation @param {string} change @param {Met | null} met null: not measured */
function keepMet(operation, change, met) {
  noteBy(PREFIX + operation, change, met);
  if (met) recordMet(operation, met);
}

/** In handleSummary: results by change, one per round. @param {string} operation @returns {Record<string, (Met | null)[]>} */
export const metSaid = (operation) => listsOf(PREFIX + operation);

/** The changes that the run's link can make. @param {import('../dataplane/scenario.js').Plane['data']['link']} link @param {Change[]} changes */
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
  const { about } = /** @type {import('../link.js').Calibrated} */ (way.plane.data.link);
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
    // Other ways measured in step have started at this point. The timetable begins with the restart.
    yield [];
    way.restart(String(timetableOf(change, about.settings, at)));
    const [transfer, quiet] = (yield all).map((one) => way.taken(one, EXPECTED));
    const found = metOf(change, flowOf(transfer), quiet, way);
    return { found, missing: missingOf(found) };
  });
}

/**
 * @param {Change} change
 * @param {any} flow of the transfer; null: not measured
 * @param {import('../meter.js').Measured | null} quiet
 * @param {import('./way.js').Way} way
 * @returns {Met | null}
 */
function metOf(change, flow, quiet, way) {
  const link = way.overTime();
  const changed = flow && madeAt(change, link, flow.began_unix_us);
  // If the tunnel opened too late, there is no time before the change to compare with.
  if (!changed || changed.at < BEFORE_S) return null;
  const course = { bytes: flow.bytes, bucketS: flow.bucket_ms / 1000 };
  const tunnels = [...flow.tunnels, ...(flowOf(quiet)?.tunnels ?? [])];
  const bits = way.rate('down');
  const waited = quiet?.values.round_trip ?? [];
  return {
    recovery: recoveryOf(course, { ...changed, rate: change.rate, lineMbit: bits && bits / 1e6 }),
    died: tunnels.filter(({ died }) => died).length,
    tunnels: tunnels.length,
    lost_bytes: bytesLost(flow.tunnels),
    quiet_most_ms: waited.length > 0 ? Math.max(...waited) / 1e6 : null,
    course: stepsOf(course, link, changed.at, flow.began_unix_us),
  };
}

/**
 * A course in steps that begin with the change. Incomplete steps are left out.
 * @param {import('./recovery.js').Course} course
 * @param {import('./over-time.js').OverTime} link
 * @param {number} at time of the change, s after the course began
 * @param {number} beganUnixUs start of the course
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

/** Records the time to recover as the operation's latency. A transfer that did not recover, and each dead tunnel, is a failure. @param {string} operation @param {Met} met */
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
 * Measures each change with newly started processes.
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
  }
}

/**
 * Measures each change over a new link.
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
  }
}
