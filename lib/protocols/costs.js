/** The costs of a running row, beyond a turn: growth by connections, start, and the smallest memory. Each has new processes. */
import { Controlled } from '../footprint/controlled.js';
import { cyclesOf, foundOf, worksOf } from '../footprint/leak.js';
import { carriedOf, carries, carrying, limitsAt, notStarted, smallestOf } from '../footprint/small.js';
import { ask } from '../meter.js';
import { closeWindow, openCpuWindow } from '../sidecar.js';
import { defaultNumber } from '../variables.js';
import { startSides, stopSides, withSides } from './instances.js';
import { hasHop } from './matrix.js';
import { goesOn } from './outcome.js';
import { Turn } from './turn.js';

/** Starts of each side, and the longest one, ms. */
export const STARTS = 3;
const START_MOST_MS = 10_000;
/** Cycles of connections, as in footprint/leak. */
export const TIMES = { warmup: 6, cycles: 48, block: 3, lingerS: 0, udpTimeoutMs: 0 };
export const WORKS = worksOf({ connections: 100, mib: 1, associations: 1 }).slice(0, 1);
/** Connections that may fail: one in a hundred is a known fault of some rows. */
const FAILED_MOST = 0.01;
/** Memory of both ends together, MiB, and the load as in footprint/small, with few tunnels. */
export const LEVELS = [4, 8, 16, 32, 64, 128];
export const LOAD = { tunnels: 8, mib: 16, mbitPerS: defaultNumber('SMALL_MBIT', 'footprint/small') };
/** Longest time of the load, s: every working system takes less. */
const LOAD_MOST_S = 15;

const BOUNDS = {
  bytes: defaultNumber('LEAK_BYTES', 'footprint/leak'),
  mibOfGib: defaultNumber('LEAK_MIB', 'footprint/leak'),
};

/**
 * @typedef {import('../dataplane/scenario.js').Plane} Plane
 * @typedef {import('./matrix.js').Row} Row
 * @typedef {import('./sides.js').Side} Side
 * @typedef {Pick<import('../footprint/leak.js').Found, 'growth' | 'within' | 'least'> & { title: string, unit: string }} Grown
 * @typedef {{ server_ms?: number | null, client_ms: number | null, first_ms: number | null }} Start from the start of each end; `first_ms`: of the
 *   client, to the first byte of the far end; a row without a server has no `server_ms`
 * @typedef {object} Costs of a side; a text says why there is no figure
 * @property {Start[] | string} starts
 * @property {Grown[] | string} growth
 * @property {number | false | null | string} smallest MiB, as of smallestOf()
 */

/** Why the start of a row is not measured; null: it is. @param {Pick<Row, 'foreign' | 'variables'>} row */
export function noStart({ foreign, variables }) {
  const others = Object.values(foreign ?? {});
  if (others.length > 0) return `${others.join(', ')} starts otherwise`;
  const { inbound = 'socks' } = variables;
  return inbound === 'socks' || inbound === 'direct' ? null : 'in network namespaces';
}

/** @param {Row} row @param {Side} side @param {string} what for its logs @param {Partial<import('./instances.js').Wanted>} [more] */
const wanted = (row, side, what, more) => ({
  row,
  side,
  server: side.server,
  logName: `${row.row}/${side.name}-${what}`,
  name: '',
  ...more,
});

/** How a probe passes a row. @param {Plane} plane @param {any} instance */
const wayOf = (plane, instance) => new Turn(plane, [instance], '').wayTo('tcp');

/** Starts the server, and then the client. @param {Plane} plane @param {Row} row @param {any} instance @param {string} log @returns {Start} */
function startOf(plane, row, instance, log) {
  const { server_port, server_control, socks_port, client_control } = instance.variables;
  const way = wayOf(plane, instance);
  const endOf = (/** @type {string} */ name, /** @type {number} */ port, /** @type {number} */ control) =>
    new Controlled(plane, instance, {
      address: `127.0.0.1:${port}`,
      control: `127.0.0.1:${control}`,
      log: `${log}/${name}.log`,
      way,
      mostMs: START_MOST_MS,
    });
  /** @type {Pick<Start, 'server_ms'>} */
  const before = {};
  if (hasHop(row)) {
    const server = endOf('server', server_port, server_control);
    const at = server.order();
    const listens = server.listens();
    if (!listens) return NO_START;
    before.server_ms = listens.at - at;
  }
  const { listen_ms, start_ms } = endOf('client', socks_port, client_control).start();
  return { ...before, client_ms: listen_ms, first_ms: start_ms };
}

/** @type {Start} */
const NO_START = { server_ms: null, client_ms: null, first_ms: null };

/** @param {Plane} plane @param {Row} row @param {Side} side @param {number} number @returns {Start} */
function startSide(plane, row, side, number) {
  const one = wanted(row, side, `start-${number + 1}`, { more: { control: true } });
  return withSides([one], plane, ([up]) =>
    'failed' in up ? NO_START : startOf(plane, row, up.started, one.logName),
  );
}

/** @param {Plane} plane @param {Row} row @param {Side} side @returns {Promise<Costs['growth']>} */
async function growthOf(plane, row, side) {
  const [work] = WORKS;
  const up = startSides([wanted(row, side, 'growth')], plane);
  try {
    const [one] = up;
    if ('failed' in one) return one.failed.outcome;
    const via = { ...wayOf(plane, one.started), instance: null, usage_window: null };
    const window = openCpuWindow(one.started.id);
    let done = 0;
    const cycles = await cyclesOf(window, work, TIMES, (recorded) => {
      const ended = plane.measure(/** @type {any} */ (via), work.spec(work));
      if (recorded && 'outcome' in ended) done += ended.outcome.succeeded;
    });
    closeWindow(window);
    const all = TIMES.cycles * work.each;
    if (done < all * (1 - FAILED_MOST)) return `${all - done} of ${all} connections failed`;
    return foundOf(WORKS, TIMES, BOUNDS, { [work.name]: cycles }).map(
      ({ growth, within, least, resource: { title, unit } }) => ({ growth, within, least, title, unit }),
    );
  } finally {
    stopSides(up);
  }
}

/** A level of memory; a text: it cannot be set. @param {Plane} plane @param {Row} row @param {Side} side @param {number} mib */
function levelOf(plane, row, side, mib) {
  const one = wanted(row, side, `memory-${mib}`, { limits: limitsAt(mib) });
  return withSides([one], plane, ([up]) => {
    if ('failed' in up) {
      const { killed = 0, outcome, detail } = up.failed;
      // With much memory the limit is not the reason.
      return killed === 0 && mib === LEVELS.at(-1) ? `${outcome}: ${detail}` : notStarted(killed);
    }
    const via = { ...wayOf(plane, up.started), instance: null, usage_window: null };
    const ended = plane.measure(/** @type {any} */ (via), { ...carrying(LOAD), limit_s: LOAD_MOST_S });
    return carriedOf(ended, ask('GET', `/instances/${up.started.id}`).limits);
  });
}

/** The levels from the largest down, until one does not carry the load. @param {(mib: number) => Omit<import('../footprint/small.js').Turn, 'turn'> | string} measure @returns {Costs['smallest']} */
export function smallestBy(measure) {
  const planned = { turns: 1, load: LOAD };
  const levels = LEVELS.map((mib) => ({
    mib,
    turns: /** @type {import('../footprint/small.js').Turn[]} */ ([]),
  }));
  for (const level of levels.toReversed()) {
    const found = measure(level.mib);
    if (typeof found === 'string') return found;
    level.turns.push({ turn: 0, ...found });
    if (carries(level, planned) !== true) break;
  }
  return smallestOf(levels, planned);
}

/** The starts of each side. @param {Plane} plane @param {Row} row @param {Side[]} sides @returns {Record<string, Start[]>} */
function startsOf(plane, row, sides) {
  /** @type {Record<string, Start[]>} */
  const starts = Object.fromEntries(sides.map(({ name }) => [name, []]));
  for (let number = 0; number < STARTS; number += 1)
    for (const side of number % 2 === 0 ? sides : sides.toReversed())
      starts[side.name].push(startSide(plane, row, side, number));
  return starts;
}

/** Why no level of memory can be set; null: it can. */
const noLevel = () => ((__ENV.LIMITS ?? '').includes('memory') ? 'LIMITS has a memory' : null);

/**
 * Measures one side after the other, and adds the costs to their notes.
 * @param {Plane} plane @param {Row} row @param {Side[]} sides @param {Record<string, import('./result.js').Notes>} notes
 */
export async function noteCosts(plane, row, sides, notes) {
  const able = sides.filter(({ name }) => goesOn(notes[name]));
  const far = plane.data.link ? 'over a link' : null;
  const unstarted = far ?? noStart(row);
  const starts = unstarted === null ? startsOf(plane, row, able) : {};
  for (const side of able)
    notes[side.name].costs = {
      starts: unstarted ?? starts[side.name],
      growth: far ?? (await growthOf(plane, row, side)),
      smallest: far ?? noLevel() ?? smallestBy((mib) => levelOf(plane, row, side, mib)),
    };
}
