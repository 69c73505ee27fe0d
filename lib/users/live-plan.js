/** The load of users-live: which user each change is about, and when changes begin. Each user is changed at most once. */
import { envCount, envNumber, loadOf, sizesOf } from '../profiles.js';

/**
 * @typedef {typeof KINDS[number]} Kind of a change
 * @typedef {object} Sizes
 * @property {number} flows connections of users that nobody changes
 * @property {number} flowRate requests a second of all these flows
 * @property {number} quiet seconds before the first change
 * @property {number} seconds with changes
 * @property {number} tail seconds after them, in which flows of refused users may end
 * @property {number} rate changes a second
 * @property {number} patience seconds until a change counts as one without effect
 */

/** All kinds. A system without a state `disabled` has only the first and the last. */
export const KINDS = /** @type {const} */ (['create', 'disable', 'enable', 'delete']);
/** Whether a user's connections carry data after the change. */
export const CARRIES = /** @type {Record<Kind, boolean>} */ ({
  create: true,
  disable: false,
  enable: true,
  delete: false,
});

const PROFILES = {
  smoke: { flows: 20, flowRate: 200, quiet: 1, seconds: 3, tail: 1, patience: 4 },
  quick: { flows: 50, flowRate: 500, quiet: 10, seconds: 40, tail: 5, patience: 10 },
  full: { flows: 200, flowRate: 1000, quiet: 60, seconds: 300, tail: 30, patience: 30 },
};

/** @param {string} scenario as SYSTEM/NAME @returns {Sizes} */
export function liveSizes(scenario) {
  const base = sizesOf(PROFILES, 'changes come at one rate, so that its shape does not apply');
  return {
    ...base,
    flows: envCount('OPEN_FLOWS', base.flows),
    seconds: envNumber('SECONDS', base.seconds),
    rate: Math.max(1, Math.round(envNumber('RATE', scenario))),
  };
}

/** @param {Sizes} sizes */
export const liveParameters = ({ flows, flowRate, quiet }) => ({
  flows,
  flow_rate_per_s: flowRate,
  quiet_s: quiet,
});

/** @param {Sizes} sizes @returns {import('../profiles.js').Load} */
export function liveLoad({ quiet, seconds, tail, rate, patience }) {
  const grace = /** @type {const} */ ({ gracefulStop: '120s' });
  const vus = Math.min(2000, Math.ceil(rate * (patience + 2)) + 10);
  return loadOf({
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
    schedule: { start: rate, steps: [{ target: rate, seconds }] },
    seconds: quiet + seconds,
  });
}

/** The users of a run, by the sizes. Indices: flows, then the users of each kind of change. */
export class LivePlan {
  /** @param {Sizes} sizes @param {readonly Kind[]} kinds @param {(runId: string, index: number) => string} nameOf */
  constructor(sizes, kinds, nameOf) {
    this.sizes = sizes;
    this.kinds = kinds;
    this.nameOf = nameOf;
    /** Users of each kind; k6 may begin one iteration more than planned. */
    this.each = Math.ceil((sizes.rate * sizes.seconds) / kinds.length) + 1;
    /** The kind of change whose users have open flows, too. */
    this.leaving = /** @type {Kind} */ (kinds.find((kind) => !CARRIES[kind]));
  }

  /** @param {string} runId @param {number} from @param {number} count */
  names(runId, from, count) {
    return Array.from({ length: count }, (_, index) => this.nameOf(runId, from + index));
  }

  /** Users of the flows that nobody touches. @param {string} runId */
  kept(runId) {
    return this.names(runId, 0, this.sizes.flows);
  }

  /** Index of the first user of a kind of change. @param {Kind} kind */
  first(kind) {
    return this.sizes.flows + this.kinds.indexOf(kind) * this.each;
  }

  /** Users of a kind of change. @param {string} runId @param {Kind} kind */
  of(runId, kind) {
    return this.names(runId, this.first(kind), this.each);
  }

  /** All users of the run. @param {string} runId */
  all(runId) {
    return this.names(runId, 0, this.sizes.flows + this.kinds.length * this.each);
  }

  /** The change of an iteration. It makes one name, as its time counts as lateness. @param {string} runId @param {number} index @returns {{ kind: Kind, user: string }} */
  at(runId, index) {
    const kind = this.kinds[index % this.kinds.length];
    return { kind, user: this.nameOf(runId, this.first(kind) + Math.floor(index / this.kinds.length)) };
  }
}
