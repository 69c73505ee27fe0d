/** Instances of the testbed `protocols`: starting the sides of a row, and stopping them. */
import { cpusOf } from '../dataplane/environment.js';
import { tryAsk } from '../dataplane/meter.js';
import { endsOf, wantedLink } from '../link/link.js';
import { keepUse } from '../link/uses.js';
import { requestAll } from '../sidecar.js';
import { awaitTunnel } from './dials.js';
import { ofFailedStart } from './outcome.js';
import { variablesOf } from './way.js';

/**
 *
 * @typedef {object} Wanted
 * @property {import('./matrix.js').Row} row
 * @property {import('./sides.js').Program} side the program that is the client, and the server too where no other is given
 * @property {import('./sides.js').Program} [server]
 * @property {Record<string, string | number | boolean>} [more] variables of the testbed
 * @property {string} logName the folder of its logs
 * @property {string} [link] that it is started over, in place of the run's
 * @property {any} [within] another instance that was started over a link: it is at home at the link's near end, and goes over none itself
 *
 * @typedef {{ started: any, row?: string } | { failed: import('./outcome.js').Outcome }} Started
 */

const START_MOST_MS = 120_000;
const STOP_MOST_MS = 60_000;
/** The sidecar: this machine or user cannot run it. */
const CANNOT = 501;

/**
 * A program as variables of the testbed.
 * @param {import('./sides.js').Program} program
 * @param {string} [prefix] of the variables
 */
export const programOf = ({ engine, binary, args = '', env = '', filter = '' }, prefix = '') =>
  Object.fromEntries(
    Object.entries({ engine, binary, args, env, filter }).map(([name, value]) => [prefix + name, value]),
  );

/**
 * All at once.
 * @param {Wanted[]} wanted
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @returns {Started[]}
 */
export function startSides(wanted, plane) {
  const target = { tcp: plane.target('tcp'), udp: plane.target('udp') };
  const { system_cpus: cpus } = plane.environment.placement;
  const { link } = plane.data;
  const able = wanted.filter(({ row }) => !link || comesInBySocks(row));
  const requests = able.map(
    ({ row, side, server, more, logName, within, link: own = link?.about.text ?? '' }) => ({
      path: '/testbeds/protocols/start',
      body: {
        log_name: logName,
        // What stands in the hop is on loopback.
        ...(within ? { namespace: within.ends.near.namespace } : wantedLink(more?.hop_port ? '' : own)),
        variables: {
          ...variablesOf(row, target),
          ...more,
          ...programOf(side),
          ...(server ? programOf(server, 'server_') : {}),
          cpus,
        },
      },
    }),
  );
  const answers = requestAll('POST', requests, START_MOST_MS).map((response, index) => {
    const { row, side, server, more, within } = able[index];
    if (response.status === 201) {
      const started = /** @type {any} */ (response.json());
      started.ends = within
        ? within.ends
        : endsOf(started, { engine: 'events', cpus: cpusOf(plane.environment.placement.echo_cpus) });
      // What stands in the hop is told later where to pass it on to.
      if (!more?.hop_port) awaitTunnel(row, started, plane);
      return { started, row: row.row };
    }
    const failure = failureOf(response);
    const { binary } = server && failure.cause?.process === 'server' ? server : side;
    return { failed: ofFailedStart(row, binary, failure, response.status === CANNOT) };
  });
  return wanted.map((one) => (able.includes(one) ? /** @type {Started} */ (answers.shift()) : NOT_OVER_LINK));
}

/** @param {import('./matrix.js').Row} row */
export const comesInBySocks = ({ variables }) => (variables.inbound ?? 'socks') === 'socks';

/** @type {Started} */
const NOT_OVER_LINK = {
  failed: {
    outcome: 'impossible here',
    detail: 'its traffic comes in otherwise than by SOCKS, and no probe goes over a link so',
  },
};

/** @param {import('k6/http').RefinedResponse<'text'>} response @returns {{ error: string, cause?: import('./outcome.js').Cause }} */
function failureOf(response) {
  try {
    const { error = `the sidecar answers ${response.status}`, cause } = /** @type {any} */ (response.json());
    return { error, cause };
  } catch {
    return { error: `the sidecar does not answer: ${response.error || response.status}` };
  }
}

/** All at once; where the sidecar is gone, they are too. @param {Started[]} sides */
export function stopSides(sides) {
  for (const side of sides)
    if ('started' in side && side.started.link) keepUse(side.row ?? '', side.started.id);
  const paths = sides.flatMap((side) => ('started' in side ? [`/instances/${side.started.id}`] : []));
  requestAll(
    'DELETE',
    paths.map((path) => ({ path })),
    STOP_MOST_MS,
  );
}

/** The files that an instance's processes really run, each by itself. @param {string} id @returns {{ file: string, sha256: string }[]} */
export const programsOf = (id) =>
  (tryAsk('GET', `/instances/${id}/programs`)?.processes ?? []).flatMap(
    (/** @type {{ programs: { file: string, sha256: string }[] }} */ { programs }) => programs,
  );

/** @returns {string[]} ids of the instances that there are */
const instanceIds = () =>
  (tryAsk('GET', '/instances') ?? []).map((/** @type {{ id: string }} */ { id }) => id);

/** What an interrupt has left running. @param {string[]} kept ids of the others */
function stopAllBut(kept) {
  stopSides(
    instanceIds()
      .filter((id) => !kept.includes(id))
      .map((id) => ({ started: { id } })),
  );
}

/** What scenarios that start rows have in common: what ran before them is left alone. */
export const startsRows = {
  system: 'protocols',
  ownInstances: true,
  prepare: () => ({ instances: instanceIds() }),
  end: (/** @type {{ instances: string[] }} */ { instances }) => stopAllBut(instances),
};
