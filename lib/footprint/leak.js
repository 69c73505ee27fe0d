/** Cycles of work, and what the processes of the system hold after each cycle. */
import { said, say } from 'k6/x/windtunnel/record';
import { sleep } from 'k6';
import { now } from '../clock.js';
import { heldNow } from './held.js';
import { growthOf, within } from './growth.js';
import { MEMORY_SLACK } from './leak-sizes.js';
import { firstReply } from '../meter.js';

const NOTE = 'held after each cycle';
const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** Readings after a block of cycles until the system has closed what it opened, and the time between two, s. */
const READINGS = 21;
const BETWEEN_S = 0.05;

/**
 * @typedef {import('./held.js').Held} Held
 * @typedef {import('./growth.js').Growth} Growth
 * @typedef {object} Work one kind of work
 * @property {string} name
 * @property {string} operation
 * @property {string} unit of the work
 * @property {number} of what one unit is, in `each`
 * @property {number} each work of a cycle
 * @property {boolean} [lingers] a proxy may keep it for minutes after its end: sing-box keeps a UDP association for 5 minutes
 *
 * @typedef {Work & { spec: (work: Work) => Record<string, unknown> }} ProbedWork `spec` of the probe of a cycle
 *
 * @typedef {{ done: number, held: Held }} Cycle `done` since the start of this work, units
 * @typedef {Record<string, Cycle[]>} Cycles of each work
 * @typedef {object} Times
 * @property {number} warmup cycles
 * @property {number} lingerS least warm-up of work that lingers, s. After it, ends balance begins. 0: such work is not judged
 * @property {number} cycles
 * @property {number} block cycles; the lowest reading of a block counts
 * @typedef {import('../dataplane/scenario.js').Plane<any>} Plane
 */

/** @param {{ connections: number, mib: number, associations: number }} each work of a cycle @returns {ProbedWork[]} */
export const worksOf = ({ connections, mib, associations }) => [
  {
    name: 'connections',
    operation: 'connection',
    unit: 'connection',
    of: 1,
    each: connections,
    spec: ({ each }) => firstReply(each),
  },
  {
    name: 'bytes',
    operation: 'transfer',
    unit: 'GiB',
    of: GIB,
    each: mib * MIB,
    spec: ({ each }) => ({
      kind: 'throughput',
      count: 1,
      connections: 1,
      warmup: 0,
      transfer: { bytes: each, write_bytes: 65_536, direction: 'down' },
    }),
  },
  {
    name: 'associations',
    operation: 'datagram',
    unit: 'association',
    lingers: true,
    of: 1,
    each: associations,
    spec: ({ each }) => ({
      kind: 'associations',
      connections: each,
      count: each,
      loop: { open: { rate_per_s: each * 20 } },
      warmup: 0,
      payload_bytes: 64,
      timeout_ms: 1000,
      limit_s: 30,
    }),
  },
];

/**
 * Reads until the system holds no more descriptors than `least`, for which it gets some time.
 * @param {string | null} window @param {number} least
 */
function settled(window, least) {
  let held = heldNow(window);
  for (let reading = 1; reading < READINGS && held && held.descriptors.all > least; reading++) {
    sleep(BETWEEN_S);
    held = heldNow(window);
  }
  return held;
}

/** Time of a cycle of work that lingers, s: a steady pace, and few at once. */
const PACE_S = 1;

/** measureLeak() by probes. @param {Plane} plane @param {ProbedWork} work @param {Times} times */
export const probeLeak = (plane, work, times) =>
  measureLeak(plane.data.window, work, times, (recorded) => {
    const ended = plane.measure(plane.proxied, work.spec(work));
    if (recorded) plane.recorded([work.operation], ended);
  });

/**
 * @param {string | null} window
 * @param {Work} work
 * @param {Times} times
 * @param {(recorded: boolean) => void | Promise<void>} once the work of a cycle
 */
export async function measureLeak(window, work, { warmup, cycles, block, lingerS }, once) {
  const paced = Boolean(work.lingers) && lingerS > 0;
  const begin = now();
  const cycle = async (/** @type {boolean} */ recorded) => {
    const from = now();
    await once(recorded);
    if (paced) sleep(Math.max(0, PACE_S - (now() - from) / 1000));
  };
  for (let done = 0; done < warmup || (paced && now() - begin < lingerS * 1000); done++) await cycle(false);
  /** @type {Cycle[]} */
  const all = [];
  let least = heldNow(window)?.descriptors.all ?? 0;
  for (let number = 1; number <= cycles; number++) {
    await cycle(true);
    // The lowest reading of a block counts: its last one has time.
    const held = number % block === 0 && !work.lingers ? settled(window, least) : heldNow(window);
    if (!held) continue;
    least = Math.min(least, held.descriptors.all);
    all.push({ done: (number * work.each) / work.of, held });
  }
  say(NOTE, { ...cyclesNow(), [work.name]: all });
}

/** @returns {Cycles} */
const cyclesNow = () => said()[NOTE] ?? {};

/**
 * @typedef {object} Resource
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {(held: Held) => number} of
 * @property {(work: Work) => number} bound for each unit of work
 * @property {number} slack growth of the whole run that is never a leak
 */

/** @param {{ bytes: number, mibOfGib: number }} most @returns {Resource[]} */
const resourcesOf = ({ bytes, mibOfGib }) => [
  {
    name: 'memory',
    title: 'own memory',
    unit: 'B',
    of: (held) => held.anon_bytes,
    bound: ({ of }) => (of === GIB ? mibOfGib * MIB : bytes),
    slack: MEMORY_SLACK,
  },
  {
    name: 'descriptors',
    title: 'descriptors',
    unit: '',
    of: (held) => held.descriptors.all,
    bound: descriptors,
    slack: 10,
  },
  { name: 'threads', title: 'threads', unit: '', of: (held) => held.threads, bound: descriptors, slack: 10 },
];

/** One in a thousand connections or associations, and one in a GiB. @param {Work} work */
const descriptors = ({ of }) => (of === GIB ? 1 : 0.001);

/**
 * @typedef {object} Found
 * @property {Work} work
 * @property {Resource} resource
 * @property {number} bound
 * @property {number} least smallest growth that can be a leak in this run: beyond the bound, and beyond the slack in all
 * @property {Growth | null} growth null: too few cycles
 * @property {boolean | null} within null: cannot tell
 * @property {boolean} judged false: the system may still end what it holds
 * @property {Cycle[]} cycles
 */

/** @param {Work[]} works @param {Times} times @param {{ bytes: number, mibOfGib: number }} most @returns {Found[]} */
export function foundOf(works, { block, lingerS }, most) {
  const cycles = cyclesNow();
  return works.flatMap((work) =>
    resourcesOf(most).map((resource) => {
      const of = cycles[work.name] ?? [];
      const points = of.map(({ done, held }) => ({ x: done, y: resource.of(held) }));
      const bound = resource.bound(work);
      const growth = growthOf(points, block);
      const done = (work.each * of.length) / work.of;
      const judged = !work.lingers || lingerS > 0;
      return {
        work,
        resource,
        bound,
        least: Math.max(bound, done > 0 ? resource.slack / done : 0),
        growth,
        within: judged ? within(growth, { bound, slack: resource.slack, work: done }) : null,
        judged,
        cycles: of,
      };
    }),
  );
}
