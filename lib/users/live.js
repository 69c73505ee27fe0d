/**
 * Changes of users while other users' flows are open: the answer of the system that changes them, and when the change takes effect in
 * the data plane. A scenario says how its system changes a user: a panel, or a proxy's own API.
 */
import { said, say, share, shared } from 'k6/x/windtunnel/record';
import { now } from '../clock.js';
import { recordErrors, recordSeries } from '../dataplane/probe-operation.js';
import { ownScenario, stop } from '../execution.js';
import { startEcho, stopEcho } from '../meter.js';
import { present } from '../sidecar.js';
import { follow } from './live-flows.js';
import { CARRIES } from './live-plan.js';
import { aliveNow } from './live-restarts.js';
import { turnsOf } from './live-tries.js';
import { lookUp, spacing } from './lookup.js';

/** Prefixes of notes; the number of the change follows. */
const CHANGE = 'live change ';
const ALIVE = 'live processes ';
const LATER = 'live, later';
/** Prefix of shared texts: users' keys. The name of the user follows. */
const KEY = 'live key ';
/** Users without effect that are tried again after the load, and for how long, s. */
const AGAIN_MOST = 10;
const AGAIN_S = 1.5;

/**
 * @typedef {import('./live-plan.js').Kind} Kind
 * @typedef {import('./live-restarts.js').Alive} Alive
 * @typedef {import('./live-tries.js').User} User
 * @typedef {import('./live-tries.js').Inbound} Inbound
 * @typedef {object} Change that the system confirmed; ms since 1970
 * @property {Kind} kind
 * @property {string} user
 * @property {number} sent
 * @property {number} answered
 * @property {'seen' | 'never' | 'untried'} effect never: not within the patience; untried: nobody looked
 * @property {string} [why] nobody looked
 * @property {number} [least_ms] beginning of the last connection without the effect, after the answer
 * @property {number} [most_ms] first byte, or beginning of the refused connection, after the answer
 * @typedef {{ user: string, kind: Kind, later: string }} Later what a change without effect did later, in words
 * @typedef {{ inbound: Inbound, echo: import('../meter.js').Echo, alive: Alive[] | null, everyMs: number }} Prepared
 * @typedef {import('../scenario.js').Begun & Prepared} Data
 */
/**
 * Changes a user, keeps the key of a new one, and records the change as an operation.
 * @callback Changer
 * @param {Kind} kind
 * @param {string} name
 * @param {<T>(send: () => T) => T} timed calls `send`, which must be the request alone
 * @returns {boolean} whether the system confirmed the change
 */

/** @param {User} user */
export function keepKey({ name, key }) {
  if (key) share(KEY + name, key);
}

/** @param {string} name @returns {User} key: undefined if nobody told it */
export const knownUser = (name) => ({ name, key: shared(KEY + name) ?? undefined });

/** @template T @param {string} prefix @returns {T[]} notes in the order of the changes */
const numbered = (prefix) =>
  Object.entries(said())
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => ({ number: Number(name.slice(prefix.length)), value }))
    .sort((a, b) => a.number - b.number)
    .map(({ value }) => value);

/** @returns {Change[]} */
export const changesSaid = () => numbered(CHANGE);
/** @returns {Alive[][]} */
export const aliveSaid = () => numbered(ALIVE);
/** @returns {Later[]} */
export const laterSaid = () => said()[LATER] ?? [];

/** @param {Kind} kind */
export const effectOf = (kind) => `${kind}_effect`;

export class Live {
  /** @param {import('./live-plan.js').LivePlan} plan */
  constructor(plan) {
    this.plan = plan;
    /** Processes at the last look of this virtual user. */
    this.seen = '';
  }

  /** In setup(): there must be a sidecar. */
  check() {
    if (!present()) stop('the sidecar keeps the flows of users: run the scenario by `make`');
  }

  /**
   * Last in setup(): no user may change any more.
   * @param {string} runId @param {Inbound} inbound @param {User[]} users all of the plan whose keys are known
   * @param {string} [first] key of the first user in the proxy's list, if it is known
   * @returns {Prepared}
   */
  prepare(runId, inbound, users, first) {
    const echo = startEcho({ host: '127.0.0.1', engine: 'events' });
    const alive = aliveNow();
    if (alive) say(ALIVE + -1, alive);
    users.forEach(keepKey);
    const last = this.plan.kept(runId).map(knownUser).pop()?.key;
    lookUp({ inbound, target: echo.tcp }, { ...(first ? { first } : {}), ...(last ? { last } : {}) });
    return { inbound, echo, alive, everyMs: spacing() };
  }

  /** The iteration that keeps the flows open. @param {Data} data */
  follow(data) {
    const { plan } = this;
    const { sizes } = plan;
    const began = ownScenario().startTime;
    follow(
      wayOf(data),
      {
        kept: plan.kept(data.runId).map(knownUser),
        leaving: plan.of(data.runId, plan.leaving).map(knownUser),
      },
      {
        seconds: (began - data.wallOffset - now()) / 1000 + sizes.quiet + sizes.seconds + sizes.tail,
        rate: sizes.flowRate,
        changesFrom: began + sizes.quiet * 1000,
        changesUntil: began + (sizes.quiet + sizes.seconds) * 1000,
      },
    );
  }

  /** One change, and its effect. @param {Data} data @param {number} index of the iteration @param {Changer} changer */
  change(data, index, changer) {
    const { kind, user: name } = this.plan.at(data.runId, index);
    let [sent, answered] = [0, 0];
    const confirmed = changer(kind, name, (send) => {
      sent = data.wallOffset + now();
      const response = send();
      answered = data.wallOffset + now();
      return response;
    });
    if (confirmed) {
      const effect = this.effect(data, kind, knownUser(name), answered);
      say(CHANGE + index, { kind, user: name, sent, answered, ...effect });
    }
    this.look(data, index);
  }

  /**
   * When a change took effect, recorded as an operation.
   * @param {Data} data @param {Kind} kind @param {User} user @param {number} answered
   * @returns {Pick<Change, 'effect' | 'why' | 'least_ms' | 'most_ms'>}
   */
  effect(data, kind, user, answered) {
    const operation = effectOf(kind);
    try {
      if (!user.key) throw new Error('nobody tells the key of a new user');
      const [turn] = turnsOf(wayOf(data), [{ user, carries: CARRIES[kind] }], this.plan.sizes.patience);
      if (!turn) {
        recordErrors(operation, { timeout: 1 });
        return { effect: 'never' };
      }
      const most = Math.max(0, (CARRIES[kind] ? turn.seen : turn.begun) - answered);
      recordSeries(operation, {
        values: { round_trip: [most * 1e6] },
        ends: { round_trip: [answered + most] },
      });
      return { effect: 'seen', least_ms: Math.max(0, turn.after - answered), most_ms: most };
    } catch (error) {
      // A change that was not measured is no failure of the system.
      return { effect: 'untried', why: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Notes the system's processes, if they are others than before. @param {Data} data @param {number} index */
  look(data, index) {
    const alive = aliveNow();
    if (!alive) return;
    const text = JSON.stringify(alive);
    if (text !== this.seen && text !== JSON.stringify(data.alive)) say(ALIVE + index, alive);
    this.seen = text;
  }

  /**
   * In teardown(): what did changes without effect need: more time, or a restart of the core? A restart ends all connections.
   * @param {Data} data @param {() => void} [restart] undefined: its users do not outlive a restart
   */
  settle(data, restart) {
    try {
      say(LATER, later(data, restart));
    } catch (error) {
      console.warn(`changes without effect were not tried again: ${error}`);
    }
    stopEcho(data.echo.id);
  }
}

/** @param {Prepared} data */
const wayOf = ({ inbound, echo, everyMs }) => ({ inbound, target: echo.tcp, everyMs });

/** @param {Data} data @param {() => void} [restart] @returns {Later[]} */
function later(data, restart) {
  const all = changesSaid()
    .filter(({ effect }) => effect === 'never')
    .slice(0, AGAIN_MOST);
  const stay = (/** @type {Change[]} */ some) => {
    const wanted = some.map(({ user, kind }) => ({ user: knownUser(user), carries: CARRIES[kind] }));
    const turns = turnsOf(wayOf(data), wanted, AGAIN_S);
    return some.filter((_, index) => turns[index] === null);
  };
  const slow = stay(all);
  if (restart && slow.length > 0) restart();
  const never = restart ? stay(slow) : slow;
  const wordsOf = (/** @type {Change} */ change) => {
    if (!slow.includes(change)) return 'took effect after the load';
    if (!restart) return 'took no effect after the load either';
    if (!never.includes(change)) return 'took effect only after a restart of the core';
    return 'took no effect even after a restart of the core';
  };
  return all.map((change) => ({ user: change.user, kind: change.kind, later: wordsOf(change) }));
}
