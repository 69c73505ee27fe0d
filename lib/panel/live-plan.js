/** The load of panel/users-live: which user each change is about, and when changes begin. Each user is changed at most once. */
import { namesOf } from './scenario.js';

/**
 * @typedef {typeof KINDS[number]} Kind of a change
 * @typedef {object} Sizes
 * @property {number} flows connections of users that nobody changes
 * @property {number} quiet seconds before the first change
 * @property {number} seconds with changes
 * @property {number} tail seconds after them, in which flows of disabled users may end
 * @property {number} rate changes a second
 * @property {number} patience seconds until a change counts as one without effect
 */

export const KINDS = /** @type {const} */ (['create', 'disable', 'enable', 'delete']);
export const GROUP = 'live';
/** Whether a user's connections carry data after the change. */
export const CARRIES = /** @type {Record<Kind, boolean>} */ ({
  create: true,
  disable: false,
  enable: true,
  delete: false,
});
const nameOf = namesOf(GROUP);

/** @param {Sizes} sizes @returns {import('../profiles.js').Load} */
export function liveLoad({ quiet, seconds, tail, rate, patience }) {
  const grace = /** @type {const} */ ({ gracefulStop: '120s' });
  const vus = Math.min(2000, Math.ceil(rate * (patience + 2)) + 10);
  return {
    scenarios: {
      closed: {
        executor: 'per-vu-iterations',
        vus: 1,
        iterations: 1,
        maxDuration: `${quiet + seconds + tail + 60}s`,
        ...grace,
      },
      open: {
        executor: 'constant-arrival-rate',
        exec: 'openLoop',
        rate,
        timeUnit: '1s',
        duration: `${seconds}s`,
        startTime: `${quiet}s`,
        preAllocatedVUs: vus,
        maxVUs: vus,
        ...grace,
      },
    },
    iterations: undefined,
    iterationsEach: undefined,
    schedule: { start: rate, steps: [{ target: rate, seconds }] },
    seconds: quiet + seconds,
    notes: [],
    warmupSeconds: 0,
  };
}

/** The users of a run, by the sizes. Indices: flows, then those to disable, to enable and to delete, then new ones. */
export class LivePlan {
  /** @param {Sizes} sizes */
  constructor(sizes) {
    this.sizes = sizes;
    /** Users of each kind; k6 may begin one iteration more than planned. */
    this.each = Math.ceil((sizes.rate * sizes.seconds) / KINDS.length) + 1;
  }

  /** @param {string} runId @param {number} from @param {number} count */
  names(runId, from, count) {
    return Array.from({ length: count }, (_, index) => nameOf(runId, from + index));
  }

  /** Users of the flows that nobody touches. @param {string} runId */
  kept(runId) {
    return this.names(runId, 0, this.sizes.flows);
  }

  /** Users of a kind of change. @param {string} runId @param {Kind} kind */
  of(runId, kind) {
    const place = { disable: 0, enable: 1, delete: 2, create: 3 }[kind];
    return this.names(runId, this.sizes.flows + place * this.each, this.each);
  }

  /** The change of an iteration. @param {string} runId @param {number} index @returns {{ kind: Kind, user: string }} */
  at(runId, index) {
    const kind = KINDS[index % KINDS.length];
    return { kind, user: this.of(runId, kind)[Math.floor(index / KINDS.length)] };
  }
}
