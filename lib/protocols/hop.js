/** The hop between two programs: whether they understand each other in it, and what others could read there. */
import { sleep } from 'k6';
import { ask, measure, tryAsk } from '../dataplane/meter.js';
import { cpusOf } from '../dataplane/environment.js';
import { recordSeries } from '../dataplane/probe-operation.js';
import { requestAll } from '../sidecar.js';
import { awaitTunnel } from './dials.js';
import { older } from './excuse.js';
import { startSides, stopSides } from './instances.js';
import { complained, shown } from './outcome.js';
import { entryOf } from './way.js';

/**
 * @typedef {'interoperates' | 'does not interoperate' | 'not encrypted' | import('./outcome.js').Name} Name
 * @typedef {{ outcome: Name, detail: string | null, version: string | null, roundTrips: number | null }} Heard `roundTrips` are
 *   those of the hop until a tunnel has opened, answered and closed; null where they were not counted
 * @typedef {{ operation?: string | null, countsTrips?: boolean }} Wanted `operation` has the samples of its round trips; none has unless given
 * @typedef {import('./sides.js').Program} Program
 * @typedef {{ client: Program, server: Program, name: string }} Pair `name` is that of its logs, within the row's
 * @typedef {{ bytes: number, round_trips: number, payload: boolean, request: boolean }} Seen what a tap saw
 */

/** Of connections and datagrams, each. */
const ROUND_TRIPS = 30;
/** A fault that breaks one new tunnel of many, such as sing-box's in httpupgrade, is not what is asked for. */
const TRIES = 3;
/** A datagram may be lost. */
const ANSWERED_LEAST = ROUND_TRIPS / 2;
const PATIENCE = { timeout_ms: 2000, handshake_timeout_ms: 2000, limit_s: 6 };
const AT_ONCE = 4;
/** In which a tunnel's end has come to the tap. */
const CLOSES_S = 0.02;
const TAP_MOST_MS = 10_000;

/** @param {string} address */
const portOf = (address) => Number(address.split(':').pop());

/** @param {Pick<Seen, 'payload' | 'request'>} seen @returns {string | null} */
export function readable({ payload, request: asked }) {
  if (!payload && !asked) return null;
  const what = [payload && 'the payload', asked && 'the address that is asked for'].filter(Boolean);
  return `${what.join(' and ')} can be read in the hop`;
}

/**
 * @param {import('../dataplane/meter.js').Ended} measured
 * @param {number} least answers
 * @returns {string | null} why it is not well
 */
export function faultOf(measured, least) {
  if ('error' in measured) return `${measured.error.kind}: ${measured.error.message}`;
  const { succeeded, errors, attempted } = measured.outcome;
  if (succeeded >= least) return null;
  const kinds = Object.entries(errors).map(([kind, count]) => `${count} × ${kind}`);
  return `${succeeded} of ${Math.max(attempted, ROUND_TRIPS)} answered, ${kinds.join(', ') || 'no error'}`;
}

/**
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {any} instance
 * @param {'tcp' | 'udp'} kind
 * @param {string | null} operation that has its samples; null: none has
 * @returns {string | null}
 */
function trips(plane, instance, kind, operation) {
  let fault = null;
  for (let time = 0; time < TRIES; time += 1) {
    const measured = measure({
      kind,
      warmup: 0,
      count: ROUND_TRIPS,
      cpus: cpusOf(plane.environment.placement.probe_cpus),
      target: plane.target(kind),
      proxy: { address: entryOf(instance).address },
      ...PATIENCE,
    });
    fault = faultOf(measured, kind === 'tcp' ? ROUND_TRIPS : ANSWERED_LEAST);
    if (fault === null) {
      if (operation !== null && 'values' in measured) recordSeries(operation, measured);
      return null;
    }
  }
  return `${kind.toUpperCase()}: ${fault}`;
}

/**
 * Of a tunnel that opens, answers 64 bytes and closes, the fewest of some: acknowledgements of QUIC are among them.
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {any} instance
 * @param {() => Seen} look
 */
function roundTripsOf(plane, instance, look) {
  const counts = Array.from({ length: TRIES }, () => {
    const { round_trips: before } = look();
    measure({
      kind: 'handshake',
      first_reply: true,
      payload_bytes: 64,
      warmup: 0,
      count: 1,
      cpus: cpusOf(plane.environment.placement.probe_cpus),
      target: plane.target('tcp'),
      proxy: { address: entryOf(instance).address },
      ...PATIENCE,
    });
    sleep(CLOSES_S);
    return look().round_trips - before;
  });
  return Math.min(...counts);
}

/**
 * What was heard of one pair.
 * @param {import('./matrix.js').Row} row
 * @param {string | null} fault
 * @param {Seen} seen
 * @returns {Pick<Heard, 'outcome' | 'detail'>}
 */
export function heardOf(row, fault, seen) {
  if (fault !== null) return { outcome: 'does not interoperate', detail: fault };
  const plain = row.encrypts ? readable(seen) : null;
  return plain ? { outcome: 'not encrypted', detail: plain } : { outcome: 'interoperates', detail: null };
}

/**
 * Each pair in processes of its own, with a tap in the hop.
 * @param {import('./matrix.js').Row} row one that has a hop
 * @param {Pair[]} pairs
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {Wanted} wanted
 * @returns {Heard[]}
 */
export function hear(row, pairs, plane, wanted) {
  /** @type {Heard[]} */
  const heard = [];
  for (let first = 0; first < pairs.length; first += AT_ONCE)
    heard.push(...hearSome(row, pairs.slice(first, first + AT_ONCE), plane, wanted));
  return heard;
}

/**
 * @param {import('./matrix.js').Row} row
 * @param {Pair[]} pairs
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {Wanted} wanted
 * @returns {Heard[]}
 */
function hearSome(row, pairs, plane, { operation = null, countsTrips = false }) {
  const far = [plane.target('tcp'), plane.target('udp')];
  const taps = pairs.map(() => ask('POST', '/taps', { far }));
  const up = startSides(
    pairs.map(({ client, server, name }, index) => ({
      row,
      side: client,
      ...(server === client ? {} : { server }),
      more: { hop_port: portOf(taps[index].address) },
      logName: `${row.row}/${name}`,
    })),
    plane,
  );
  try {
    return up.map((started, index) => {
      if ('failed' in started)
        return { ...shown(older(row, started.failed)), version: null, roundTrips: null };
      const { started: instance } = started;
      const path = `/taps/${taps[index].id}`;
      ask('POST', path, { target: `127.0.0.1:${instance.variables.server_port}` });
      awaitTunnel(row, instance, plane);
      const fault =
        trips(plane, instance, 'tcp', operation) ??
        (row.udp ? trips(plane, instance, 'udp', operation) : null);
      const version = /** @type {string | undefined} */ (Object.values(instance.versions)[0]) ?? null;
      const told =
        fault && [fault, complained(tryAsk('GET', `/instances/${instance.id}`))].filter(Boolean).join('; ');
      const look = () => ask('GET', path);
      const heard = heardOf(row, told, look());
      return {
        ...heard,
        version,
        roundTrips:
          countsTrips && heard.outcome === 'interoperates' ? roundTripsOf(plane, instance, look) : null,
      };
    });
  } finally {
    stopSides(up);
    requestAll(
      'DELETE',
      taps.map(({ id }) => ({ path: `/taps/${id}` })),
      TAP_MOST_MS,
    );
  }
}
