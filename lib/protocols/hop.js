/** The hop between two programs: whether they are compatible, and what an observer can read there. */
import { sleep } from 'k6';
import { requestAll } from 'k6/x/windtunnel/record';
import { ask, firstReply, measure, measureAll, tryAsk } from '../meter.js';
import { cpusOf } from '../dataplane/environment.js';
import { chunked } from '../lists.js';
import { recordSeries } from '../dataplane/probe-operation.js';
import { awaitTunnel } from './dials.js';
import { older } from './excuse.js';
import { startSides, stopSides } from './instances.js';
import { withKills } from './limited.js';
import { complained, shown } from './outcome.js';
import { entryOf, portOf } from './way.js';

/**
 * @typedef {'interoperates' | 'does not interoperate' | 'not encrypted' | import('./outcome.js').Name} Name
 * @typedef {{ outcome: Name, detail: string | null, version: string | null, roundTrips: number | null }} Heard `roundTrips` of
 *   the hop until a tunnel has opened, answered and closed; null: not counted
 * @typedef {import('./sides.js').Program} Program
 * @typedef {{ client: Program, server: Program, name: string }} Pair `name` of its folder in the row's logs
 * @typedef {{ row: import('./matrix.js').Row, pair: Pair, operation?: string | null, countsTrips?: boolean }} Hop one pair of a row; `operation` under which round trips are
 *   recorded; default: none
 * @typedef {import('../../types/sidecar.d.ts').Tapped} Seen
 */

/** Number of round trips over connections, and of datagrams. */
const ROUND_TRIPS = 30;
/** Tries. A fault that breaks one new tunnel of many, such as sing-box's in httpupgrade, is not an incompatibility. */
const TRIES = 3;
/** Least number of answered datagrams, since datagrams may be lost. */
const ANSWERED_LEAST = ROUND_TRIPS / 2;
const PATIENCE = { timeout_ms: 2000, handshake_timeout_ms: 2000, limit_s: 6 };
export const AT_ONCE = 4;
/** Time within which the end of a tunnel reaches the tap, s. */
const CLOSES_S = 0.02;
const TAP_MOST_MS = 10_000;

/** @param {Pick<Seen, 'payload' | 'request'>} seen @returns {string | null} */
export function readable({ payload, request: asked }) {
  if (!payload && !asked) return null;
  const what = [payload && 'the payload', asked && 'the address that is asked for'].filter(Boolean);
  return `${what.join(' and ')} can be read in the hop`;
}

/**
 * @param {import('../meter.js').Ended} measured
 * @param {number} least answers
 * @returns {string | null} why it failed, or null
 */
export function faultOf(measured, least) {
  if ('error' in measured) return `${measured.error.kind}: ${measured.error.message}`;
  const { succeeded, errors, attempted } = measured.outcome;
  if (succeeded >= least) return null;
  const kinds = Object.entries(errors).map(([kind, count]) => `${count} × ${kind}`);
  return `${succeeded} of ${Math.max(attempted, ROUND_TRIPS)} answered, ${kinds.join(', ') || 'no error'}`;
}

/** @param {import('../dataplane/scenario.js').Plane} plane @param {any} instance @param {'tcp' | 'udp'} kind */
const tripsSpec = (plane, instance, kind) => ({
  kind,
  warmup: 0,
  count: ROUND_TRIPS,
  cpus: cpusOf(plane.environment.placement.probe_cpus),
  target: plane.target(kind),
  proxy: { address: entryOf(instance).address },
  ...PATIENCE,
});

/**
 * @param {import('../meter.js').Ended} measured
 * @param {'tcp' | 'udp'} kind
 * @param {string | null} operation under which successful samples are recorded; null: none
 * @returns {string | null}
 */
function faultOfTrips(measured, kind, operation) {
  const fault = faultOf(measured, kind === 'tcp' ? ROUND_TRIPS : ANSWERED_LEAST);
  if (fault !== null) return `${kind.toUpperCase()}: ${fault}`;
  if (operation !== null && 'values' in measured) recordSeries(operation, measured);
  return null;
}

/**
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {any} instance
 * @param {'tcp' | 'udp'} kind
 * @param {string | null} operation under which samples are recorded; null: none
 * @param {number} [tries]
 * @returns {string | null}
 */
function trips(plane, instance, kind, operation, tries = TRIES) {
  let fault = null;
  for (let time = 0; time < tries; time += 1) {
    fault = faultOfTrips(measure(tripsSpec(plane, instance, kind)), kind, operation);
    if (fault === null) return null;
  }
  return fault;
}

/**
 * Sends datagrams through several instances at once, since each probe waits for late answers. Failed ones are repeated alone.
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {{ instance: any, operation: string | null }[]} all
 * @returns {(string | null)[]}
 */
function datagrams(plane, all) {
  const ended = measureAll(all.map(({ instance }) => tripsSpec(plane, instance, 'udp')));
  return all.map(({ instance, operation }, index) =>
    faultOfTrips(ended[index], 'udp', operation) === null
      ? null
      : trips(plane, instance, 'udp', operation, TRIES - 1),
  );
}

/**
 * Round trips of a tunnel that opens, answers 64 bytes and closes: the minimum of several tries, because QUIC's acknowledgements count too.
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {any} instance
 * @param {() => Seen} look
 */
function roundTripsOf(plane, instance, look) {
  const counts = Array.from({ length: TRIES }, () => {
    const { round_trips: before } = look();
    measure({
      ...firstReply(1),
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
 * The result of one pair.
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
 * Tests each pair in new processes, with a tap in the hop.
 * @param {Hop[]} hops of rows with a hop
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @returns {Heard[]}
 */
export const hearAll = (hops, plane) => chunked(hops, AT_ONCE).flatMap((some) => hearSome(some, plane));

/**
 * @param {Hop[]} hops
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @returns {Heard[]}
 */
function hearSome(hops, plane) {
  const far = [plane.target('tcp'), plane.target('udp')];
  const taps = hops.map(() => ask('POST', '/taps', { far }));
  const up = startSides(
    hops.map(({ row, pair: { client, server, name } }, index) => ({
      row,
      side: client,
      ...(server === client ? {} : { server }),
      more: { hop_port: portOf(taps[index].address) },
      logName: `${row.row}/${name}`,
      name: `${row.row}, ${name}`,
    })),
    plane,
  );
  try {
    const streams = up.map((started, index) => {
      if ('failed' in started) return null;
      const { row, operation = null } = hops[index];
      const { started: instance } = started;
      ask('POST', `/taps/${taps[index].id}`, { target: `127.0.0.1:${instance.variables.server_port}` });
      awaitTunnel(row, instance, plane);
      return { instance, operation, row, fault: trips(plane, instance, 'tcp', operation) };
    });
    const sending = streams.filter((one) => one !== null && one.fault === null && one.row.udp);
    const lost = datagrams(plane, /** @type {NonNullable<typeof streams[number]>[]} */ (sending));
    return up.map((started, index) => {
      const stream = streams[index];
      const { row, countsTrips = false } = hops[index];
      if ('failed' in started || stream === null) {
        const failed = /** @type {{ failed: import('./outcome.js').Outcome }} */ (started);
        return { ...shown(older(row, failed.failed)), version: null, roundTrips: null };
      }
      const { instance } = stream;
      const fault = stream.fault ?? lost[sending.indexOf(stream)] ?? null;
      const version = /** @type {string | undefined} */ (Object.values(instance.versions)[0]) ?? null;
      const state = fault && tryAsk('GET', `/instances/${instance.id}`);
      const reason = fault && [fault, complained(state)].filter(Boolean).join('; ');
      const look = () => ask('GET', `/taps/${taps[index].id}`);
      const result = withKills(heardOf(row, reason, look()), [state]);
      return {
        ...result,
        version,
        roundTrips:
          countsTrips && result.outcome === 'interoperates' ? roundTripsOf(plane, instance, look) : null,
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
