/** Instances of the testbed `protocols`: starting the sides of a row, and stopping them. */
import { tryAsk } from '../dataplane/meter.js';
import { requestAll } from '../sidecar.js';
import { ofFailedStart } from './outcome.js';
import { variablesOf } from './way.js';

/**
 * @typedef {object} Wanted
 * @property {import('./matrix.js').Row} row
 * @property {import('./sides.js').Side} side
 * @property {Record<string, string | number | boolean>} [more] variables of the testbed
 *
 * @typedef {{ started: any } | { failed: import('./outcome.js').Outcome }} Started
 */

const START_MOST_MS = 120_000;
const STOP_MOST_MS = 60_000;
/** The sidecar: this machine or user cannot run it. */
const CANNOT = 501;

/**
 * All at once.
 * @param {Wanted[]} wanted
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @returns {Started[]}
 */
export function startSides(wanted, plane) {
  const target = { tcp: plane.target('tcp'), udp: plane.target('udp') };
  const { system_cpus: cpus } = plane.environment.placement;
  const requests = wanted.map(({ row, side: { engine, binary }, more }) => ({
    path: '/testbeds/protocols/start',
    body: { variables: { ...variablesOf(row, target), ...more, engine, binary, cpus } },
  }));
  return requestAll('POST', requests, START_MOST_MS).map((response, index) => {
    if (response.status === 201) return { started: response.json() };
    const { row, side } = wanted[index];
    return { failed: ofFailedStart(row, side.binary, lineOf(response), response.status === CANNOT) };
  });
}

/** @param {import('k6/http').RefinedResponse<'text'>} response */
function lineOf(response) {
  try {
    return /** @type {any} */ (response.json()).error ?? `the sidecar answers ${response.status}`;
  } catch {
    return `the sidecar does not answer: ${response.error || response.status}`;
  }
}

/** All at once; where the sidecar is gone, they are too. @param {Started[]} sides */
export function stopSides(sides) {
  const paths = sides.flatMap((side) => ('started' in side ? [`/instances/${side.started.id}`] : []));
  requestAll(
    'DELETE',
    paths.map((path) => ({ path })),
    STOP_MOST_MS,
  );
}

/** @returns {string[]} ids of the instances that there are */
export const instanceIds = () =>
  (tryAsk('GET', '/instances') ?? []).map((/** @type {{ id: string }} */ { id }) => id);

/** What an interrupt has left running. @param {string[]} kept ids of the others */
export function stopAllBut(kept) {
  stopSides(
    instanceIds()
      .filter((id) => !kept.includes(id))
      .map((id) => ({ started: { id } })),
  );
}
