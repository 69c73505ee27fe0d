/** Cycles of work, and what the processes of the system hold after each cycle. */
import { said, say } from 'k6/x/windtunnel/record';
import { sleep } from 'k6';
import { now } from '../clock.js';
import { heldNow } from './held.js';
import { falls, growthOf, within } from './growth.js';
import { MEMORY_SLACK } from './leak-sizes.js';
import { awaitFresh, proxyOf } from '../dataplane/fresh.js';
import { firstReply } from '../meter.js';
import { closeWindow, openCpuWindow } from '../sidecar.js';

const NOTE = 'held after each cycle';
const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** Readings after a block of cycles until the system has closed what it opened, and the time between two, s. */
const READINGS = 21;
/** Readings without a fall, after which the system closes nothing more. */
const SAME = 10;
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
 * @property {boolean} [lingers] a proxy may keep it for minutes after its end
 *
 * @typedef {Work & { spec: (work: Work) => Record<string, unknown> }} ProbedWork `spec` of the probe of a cycle
 *
 * @typedef {{ done: number, held: Held }} Cycle `done` since the start of this work, units
 * @typedef {Record<string, Cycle[]>} Cycles of each work
 * @typedef {object} Times
 * @property {number} warmup cycles, at least
 * @property {number} lingerS least warm-up of work that lingers, s. After it, ends balance begins. 0: such work is not judged
 * @property {number} udpTimeoutMs in place of that, the idle time after which the proxy ends a UDP association; 0: unknown
 * @property {number} cycles
 * @property {number} block cycles; the lowest reading of a block counts
 * @typedef {import('../dataplane/scenario.js').Plane<any>} Plane
 * @typedef {import('../dataplane/fresh.js').Found} Testbed
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

/** Readings that are judged. @type {Record<string, (held: Held) => number>} */
const READ = {
  memory: (held) => held.anon_bytes,
  descriptors: (held) => held.descriptors.all,
  threads: (held) => held.threads,
};

/** @param {Held | null} held */
const openOf = (held) => (held ? READ.descriptors(held) : 0);

/**
 * Reads until the system holds no more descriptors than `least`, for which it gets some time.
 * @param {string | null} window @param {number} least
 */
function settled(window, least) {
  let held = heldNow(window);
  for (let reading = 1, same = 0; reading < READINGS && same < SAME && openOf(held) > least; reading++) {
    sleep(BETWEEN_S);
    const next = heldNow(window);
    same = openOf(next) < openOf(held) ? 0 : same + 1;
    held = next;
  }
  return held;
}

/** Time of a cycle of work that lingers, s: a steady pace, and few at once. */
const PACE_S = 1;
/** The longest idle time that is soon over, ms. */
const SOON_MOST_MS = 2000;
/** The warm-up of work that ends soon, as a share of the cycles. */
const SOON_WARMUP = 0.4;

/** The variable of a testbed that sets the idle time of UDP associations; 0: the program's own. */
const UDP_TIMEOUT = 'udp_timeout_ms';

/**
 * In setup(): the idle time of UDP associations, ms; 0: it is long, or the testbed cannot set it.
 * @param {Testbed} testbed @param {number} shortMs where the testbed leaves it to the program
 */
export function udpTimeoutOf({ variables, link }, shortMs) {
  if (!(UDP_TIMEOUT in variables) || link) return 0;
  const ms = Number(variables[UDP_TIMEOUT]) || shortMs;
  return ms <= SOON_MOST_MS ? ms : 0;
}

/** measureLeak() by probes. Associations with a known idle time have a new instance of the testbed. @param {Plane} plane @param {ProbedWork} work @param {Times} times */
export async function probeLeak(plane, work, times) {
  const { window, found } = plane.data;
  const through =
    (/** @type {import('../dataplane/scenario.js').Via} */ via) => (/** @type {boolean} */ recorded) => {
      const ended = plane.measure(via, work.spec(work));
      if (recorded) plane.recorded([work.operation], ended);
    };
  if (!endsSoon(work, times)) {
    await measureLeak(window, work, times, through(plane.proxied));
    return;
  }
  await awaitFresh(found, { [UDP_TIMEOUT]: times.udpTimeoutMs }, async (instance) => {
    const own = openCpuWindow(instance.id);
    const via = { proxy: proxyOf(instance), instance: instance.id, usage_window: window };
    await measureLeak(own, work, times, through(via));
    closeWindow(own);
  });
}

/** @param {Work} work @param {Times} times */
const endsSoon = ({ lingers }, { udpTimeoutMs }) => Boolean(lingers) && udpTimeoutMs > 0;

/**
 * How the cycles of work run.
 * @typedef {object} Manner
 * @property {number} warmup cycles, at least
 * @property {number} lingerMs least warm-up
 * @property {number} paceS least time of a cycle
 * @property {boolean} settles whether the last reading of a block waits until the system has ended its part
 */

/** @param {Work} work @param {Times} times @returns {Manner} */
function mannerOf(work, times) {
  const { warmup, cycles, lingerS, udpTimeoutMs } = times;
  if (!work.lingers) return { warmup, lingerMs: 0, paceS: 0, settles: true };
  if (!endsSoon(work, times))
    return { warmup, lingerMs: lingerS * 1000, paceS: lingerS > 0 ? PACE_S : 0, settles: false };
  // A program may see only at the second look that an association was idle.
  const paceS = (2 * udpTimeoutMs) / 1000;
  return { warmup: Math.ceil(cycles * SOON_WARMUP), lingerMs: 0, paceS, settles: true };
}

/** The longest warm-up of what still falls, in warm-ups. */
const WARMUP_MOST = 3;

/** Whether something that is held is not at a plateau yet. @param {Held[]} warm readings of the warm-up @param {number} block */
const stillFalls = (warm, block) => Object.values(READ).some((of) => falls(warm.map(of), block));

/**
 * @param {string | null} window
 * @param {Work} work
 * @param {Times} times
 * @param {(recorded: boolean) => void | Promise<void>} once the work of a cycle
 */
export async function measureLeak(window, work, times, once) {
  const all = await cyclesOf(window, work, times, once);
  say(NOTE, { ...cyclesNow(), [work.name]: all });
}

/** measureLeak() without a note. @param {string | null} window @param {Work} work @param {Times} times @param {(recorded: boolean) => void | Promise<void>} once */
export async function cyclesOf(window, work, times, once) {
  const { block } = times;
  const { warmup, lingerMs, paceS, settles } = mannerOf(work, times);
  const begin = now();
  const before = openOf(heldNow(window));
  const cycle = async (/** @type {boolean} */ recorded) => {
    const from = now();
    await once(recorded);
    if (paceS > 0) sleep(Math.max(0, paceS - (now() - from) / 1000));
  };
  /** @type {Held[]} */
  const warm = [];
  const more = (/** @type {number} */ done) =>
    done < warmup || now() - begin < lingerMs || (done < WARMUP_MOST * warmup && stillFalls(warm, block));
  for (let done = 0; more(done); done++) {
    await cycle(false);
    const held = heldNow(window);
    if (held) warm.push(held);
  }
  /** @type {Cycle[]} */
  const all = [];
  let least = openOf(settles && paceS > 0 ? settled(window, before) : heldNow(window));
  for (let number = 1; number <= times.cycles; number++) {
    await cycle(true);
    // The lowest reading of a block counts: its last one has time.
    const held = settles && number % block === 0 ? settled(window, least) : heldNow(window);
    if (!held) continue;
    least = Math.min(least, held.descriptors.all);
    all.push({ done: (number * work.each) / work.of, held });
  }
  return all;
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

/** The bound of an association, in bounds of a connection: a run has fewer associations, and the same noise of a collector. */
const OF_AN_ASSOCIATION = 16;

/** @param {{ bytes: number, mibOfGib: number }} most @returns {Resource[]} */
const resourcesOf = ({ bytes, mibOfGib }) => [
  {
    name: 'memory',
    title: 'own memory',
    unit: 'B',
    of: READ.memory,
    bound: ({ of, lingers }) => (of === GIB ? mibOfGib * MIB : bytes * (lingers ? OF_AN_ASSOCIATION : 1)),
    slack: MEMORY_SLACK,
  },
  {
    name: 'descriptors',
    title: 'descriptors',
    unit: '',
    of: READ.descriptors,
    bound: descriptors,
    slack: 10,
  },
  { name: 'threads', title: 'threads', unit: '', of: READ.threads, bound: descriptors, slack: 10 },
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

/** @param {Work[]} works @param {Times} times @param {{ bytes: number, mibOfGib: number }} most @param {Cycles} [cycles] default: of the run @returns {Found[]} */
export function foundOf(works, times, most, cycles = cyclesNow()) {
  return works.flatMap((work) => {
    const manner = mannerOf(work, times);
    return resourcesOf(most).map((resource) => {
      const of = cycles[work.name] ?? [];
      const points = of.map(({ done, held }) => ({ x: done, y: resource.of(held) }));
      const bound = resource.bound(work);
      const growth = growthOf(points, times.block);
      const done = (work.each * of.length) / work.of;
      const judged = manner.settles || manner.lingerMs > 0;
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
    });
  });
}
