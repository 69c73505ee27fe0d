/** Starts and stops the sides of a row, as instances of the testbed `protocols`. */
import { keepLink, requestAll } from 'k6/x/windtunnel/record';
import { cpusOf } from '../dataplane/environment.js';
import { noteLeft, overLink } from '../left-open.js';
import { tryAsk } from '../meter.js';
import { endsOf, wantedLink } from '../link.js';
import { awaitTunnel } from './dials.js';
import { ofFailedStart, processOf } from './outcome.js';
import { variablesOf } from './way.js';

/**
 * @typedef {object} Wanted
 * @property {import('./matrix.js').Row} row
 * @property {import('./sides.js').Program} side program of the client, and of the server unless `server` is given
 * @property {import('./sides.js').Program} [server]
 * @property {Record<string, string | number | boolean>} [more] variables of the testbed
 * @property {string} logName folder of its logs
 * @property {string} [name] by which reports say what it left open, '': they do not; default: the row's, with a candidate's side
 * @property {string} [link] link to start it over, instead of the run's
 * @property {string} [limits] of its processes, in place of those of the run
 * @property {any} [within] another instance that was started over a link: this one runs at the link's near end, and gets no other link
 *
 * @typedef {{ started: any, row?: string, name?: string, versions?: Record<string, string> } | { failed: import('./outcome.js').Outcome }} Started
 *   `versions` of the program that is both ends; empty for two programs
 */

const START_MOST_MS = 120_000;
const STOP_MOST_MS = 60_000;
/** The sidecar's status if this machine or user cannot run a testbed. */
const CANNOT = 501;

/**
 * The testbed's variables for a program.
 * @param {import('./sides.js').Program} program
 * @param {string} [prefix] of the variables
 */
export const programOf = ({ engine, binary, args = '', env = '', filter = '' }, prefix = '') =>
  Object.fromEntries(
    Object.entries({ engine, binary, args, env, filter }).map(([name, value]) => [prefix + name, value]),
  );

/**
 * Starts all sides at once.
 * @param {Wanted[]} wanted
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {object} [far] the far end over a link, sidecar/README.md
 * @returns {Started[]}
 */
export function startSides(wanted, plane, far = { engine: 'events' }) {
  const target = { tcp: plane.target('tcp'), udp: plane.target('udp') };
  const { system_cpus: cpus } = plane.environment.placement;
  const { link } = plane.data;
  const able = wanted.filter(({ row }) => !link || comesInBySocks(row));
  const requests = able.map(
    ({ row, side, server, more, logName, limits, within, link: linkText = link?.about.text ?? '' }) => ({
      path: '/testbeds/protocols/start',
      body: {
        log_name: logName,
        limits,
        // A tap in the hop listens on loopback.
        ...(within ? { namespace: within.ends.near.namespace } : wantedLink(more?.hop_port ? '' : linkText)),
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
    const { row, side, server, more, within, name = nameOf(row, side) } = able[index];
    const { answer: started } = response;
    if (response.error === null) {
      started.ends = within
        ? within.ends
        : endsOf(started, { ...far, cpus: cpusOf(plane.environment.placement.echo_cpus) });
      if (takesTraffic(more)) awaitTunnel(row, started, plane);
      // A known fault of one program excuses no other one.
      const versions = server && server.binary !== side.binary ? {} : started.versions;
      return { started, row: row.row, name, versions };
    }
    const failure = failureOf(response);
    const { binary } = server && processOf(failure.cause) === 'server' ? server : side;
    return { failed: ofFailedStart(row, binary, failure, response.status === CANNOT) };
  });
  return wanted.map((one) => (able.includes(one) ? /** @type {Started} */ (answers.shift()) : NOT_OVER_LINK));
}

/** A tap in the hop does not know its target yet, and a program with a control port has not started. @param {Wanted['more']} [more] */
const takesTraffic = ({ hop_port: tap, control } = {}) => !tap && !control;

/** @param {import('./matrix.js').Row} row @param {import('./sides.js').Program | import('./sides.js').Side} side */
const nameOf = ({ row }, side) => ('name' in side && side.name === 'candidate' ? `${row}, candidate` : row);

/** @param {import('./matrix.js').Row} row */
export const comesInBySocks = ({ variables }) => (variables.inbound ?? 'socks') === 'socks';

/** @type {Started} */
const NOT_OVER_LINK = {
  failed: {
    outcome: 'impossible here',
    detail: 'a link needs probes through SOCKS, and this row has no SOCKS client',
  },
};

/** @param {import('k6/x/windtunnel/record').Answer} response @returns {{ error: string, cause?: import('./outcome.js').Cause }} */
function failureOf({ status, answer, error }) {
  if (!answer) return { error: `the sidecar does not answer: ${error}` };
  return { error: answer.error ?? `the sidecar answers ${status}`, cause: answer.cause };
}

/**
 * Notes what all sides left open, and stops them at once. If the sidecar has ended, so have they.
 * @param {Started[]} sides
 */
export function stopSides(sides) {
  const named = sides.flatMap((side) => {
    if (!('started' in side) || !side.name) return [];
    const { id, ends } = side.started;
    return [{ name: side.name, id, versions: side.versions ?? {}, unjudged: overLink(ends) }];
  });
  noteLeft(named);
  for (const side of sides)
    if ('started' in side && side.started.link) keepLink(side.row ?? '', side.started.id);
  const paths = sides.flatMap((side) => ('started' in side ? [`/instances/${side.started.id}`] : []));
  requestAll(
    'DELETE',
    paths.map((path) => ({ path })),
    STOP_MOST_MS,
  );
}

/**
 * Starts all sides at once, uses them, and stops them.
 * @template T
 * @param {Wanted[]} wanted
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {(up: Started[]) => T} use
 * @param {object} [far] as of startSides()
 */
export function withSides(wanted, plane, use, far) {
  const up = startSides(wanted, plane, far);
  try {
    return use(up);
  } finally {
    stopSides(up);
  }
}

/** The executable files of an instance's processes. @param {string} id @returns {{ file: string, sha256: string }[]} */
export const programsOf = (id) =>
  (tryAsk('GET', `/instances/${id}/programs`)?.processes ?? []).flatMap(
    (/** @type {{ programs: { file: string, sha256: string }[] }} */ { programs }) => programs,
  );

/** @returns {string[]} ids of all running instances */
const instanceIds = () =>
  (tryAsk('GET', '/instances') ?? []).map((/** @type {{ id: string }} */ { id }) => id);

/** Stops instances that an interrupt left running. @param {string[]} kept ids of instances to keep */
function stopAllBut(kept) {
  stopSides(
    instanceIds()
      .filter((id) => !kept.includes(id))
      .map((id) => ({ started: { id } })),
  );
}

/** Common parts of scenarios that start rows. Instances that ran before the run are left alone. */
export const startsRows = {
  system: 'protocols',
  ownInstances: true,
  prepare: () => ({ instances: instanceIds() }),
  end: (/** @type {{ instances: string[] }} */ { instances }) => stopAllBut(instances),
};
