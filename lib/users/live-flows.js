/** Users' connections that stay open while other users change, and connections of users who will be refused. */
import { say, said } from 'k6/x/windtunnel/record';
import {
  recordErrors,
  recordNothing,
  recordSeries,
  recordUse,
  knownErrors,
} from '../dataplane/probe-operation.js';
import { measureAll } from '../meter.js';

const NOTE = 'live flows';
const BYTES = 64;
/** A slower answer counts as none, ms. */
const TIMEOUT_MS = 5000;
/** Requests of a second on each flow of a user that will be refused. */
const LEAVING_RATE = 5;
/** Most points of the plot. */
const POINTS = 60;

/**
 * @typedef {{ name: string, at: number | null, why: string }} Lost `at`: ms since 1970; null: it never opened
 * @typedef {{ at_s: number, p50_ms: number, p99_ms: number }} Point after the first request
 * @typedef {object} Flows
 * @property {number} opened ms since 1970: the first request
 * @property {number} asked
 * @property {Lost[]} lost of untouched users
 * @property {Point[]} course round trips of untouched users
 * @property {Lost[]} left of users that will be refused: flows that ended or fell silent
 * @property {number} leaving flows of such users
 * @property {number} watched_until ms since 1970
 */

/** @returns {Flows | null} */
export const flowsSaid = () => said()[NOTE] ?? null;

/** @param {import('./live-tries.js').Way} way @param {import('./live-tries.js').User[]} list @param {number} seconds @param {number} rate */
const steady = ({ inbound, target }, list, seconds, rate) => ({
  kind: 'steady',
  target,
  payload_bytes: BYTES,
  warmup: 0,
  timeout_ms: TIMEOUT_MS,
  limit_s: seconds + 60,
  count: Math.ceil(rate * seconds),
  loop: { open: { rate_per_s: rate } },
  users: { ...inbound, list, seconds },
});

/** @param {number[]} sorted @param {number} share */
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** @param {Trip[]} trips @param {number} opened @param {number} lasted ms @returns {Point[]} */
function courseOf(trips, opened, lasted) {
  const width = lasted / POINTS;
  /** @type {number[][]} */
  const places = Array.from({ length: POINTS }, () => []);
  for (const { due, ns } of trips)
    places[Math.min(POINTS - 1, Math.floor((due - opened) / width))].push(ns / 1e6);
  return places.flatMap((all, place) => {
    const sorted = all.sort((a, b) => a - b);
    if (sorted.length === 0) return [];
    return [{ at_s: ((place + 0.5) * width) / 1000, p50_ms: at(sorted, 0.5), p99_ms: at(sorted, 0.99) }];
  });
}

/** The flows that ended or fell silent. @param {any} outcome @param {number} opened @returns {Lost[]} */
const lostOf = ({ users }, opened) =>
  users
    .filter((/** @type {any} */ one) => one.error !== null || one.silent_s !== undefined)
    .map((/** @type {any} */ one) => {
      const s = one.ended_s ?? one.silent_s;
      return {
        name: one.name,
        at: s === undefined || s === null ? null : opened + s * 1000,
        why: one.error ?? 'silent',
      };
    });

/** @typedef {{ ns: number, end: number, due: number }} Trip its duration, and its end and begin in ms since 1970 */

/** Each read of a list copies the list, so both are read once. @param {import('../meter.js').Measured} measured @returns {Trip[]} */
function tripsOf({ values, ends }) {
  const lasted = values.round_trip ?? [];
  const ended = ends.round_trip;
  return lasted.map((ns, index) => ({ ns, end: ended[index], due: ended[index] - ns / 1e6 }));
}

/** When the first request of a probe was due, ms since 1970. @param {import('../meter.js').Measured} measured @param {number} otherwise */
function firstDue(measured, otherwise) {
  const trips = tripsOf(measured);
  return trips.length > 0 ? trips.reduce((least, { due }) => Math.min(least, due), Infinity) : otherwise;
}

/**
 * Keeps flows open until the end of the load, and records the untouched ones: `flow_quiet` before `changesFrom`, then `flow_changes`.
 * @param {import('./live-tries.js').Way} way
 * @param {{ kept: import('./live-tries.js').User[], leaving: import('./live-tries.js').User[] }} users
 * @param {{ seconds: number, rate: number, changesFrom: number, changesUntil: number }} times rate: requests a second of all
 *   untouched flows; changesFrom, changesUntil: ms since 1970
 */
export function follow(way, { kept, leaving }, { seconds, rate, changesFrom, changesUntil }) {
  const [main, second] = measureAll([
    steady(way, kept, seconds, rate),
    steady(way, leaving, seconds, LEAVING_RATE * leaving.length),
  ]);
  if ('error' in main) {
    recordNothing('flow_quiet', main);
    recordNothing('flow_changes', main);
    return;
  }
  const { outcome } = main;
  const opened = firstDue(main, Date.now());
  const trips = tripsOf(main);
  const lost = lostOf(outcome, opened);
  const early = lost.some(({ at: moment }) => moment === null || moment < changesFrom);
  const phases = /** @type {const} */ ([
    ['flow_quiet', opened, changesFrom],
    ['flow_changes', changesFrom, changesUntil],
  ]);
  for (const [name, from, until] of phases) {
    const own = trips.filter(({ due }) => due >= from && due < until);
    recordSeries(name, {
      values: { round_trip: own.map(({ ns }) => ns) },
      ends: { round_trip: own.map(({ end }) => end) },
    });
    const share = trips.length > 0 ? own.length / trips.length : 0;
    recordUse(name, {
      ...outcome,
      duration_s: Math.max(0, until - from) / 1000,
      bytes: own.length * BYTES,
      probe_cpu_s: outcome.probe_cpu_s * share,
      usage: null,
    });
  }
  recordErrors(early ? 'flow_quiet' : 'flow_changes', knownErrors(outcome.errors));
  const measured = 'error' in second ? null : second;
  /** @type {Flows} */
  const flows = {
    opened,
    asked: kept.length,
    lost,
    course: courseOf(trips, opened, seconds * 1000),
    left: measured ? lostOf(measured.outcome, firstDue(measured, opened)) : [],
    leaving: measured ? leaving.length : 0,
    watched_until: opened + seconds * 1000,
  };
  say(NOTE, flows);
}
