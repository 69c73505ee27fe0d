/** Changes of users while other users' flows are open: the panel's answer, and when the change takes effect in the data plane. */
import { said, say } from 'k6/x/windtunnel/record';
import { now } from '../clock.js';
import { recordErrors, recordSeries } from '../dataplane/probe-operation.js';
import { ownScenario, stop } from '../execution.js';
import { startEcho, stopEcho } from '../meter.js';
import { present } from '../sidecar.js';
import { inboundOf, keyOf } from './data-plane.js';
import { messageOf } from './database.js';
import { follow } from './live-flows.js';
import { CARRIES, GROUP, LivePlan } from './live-plan.js';
import { aliveNow } from './live-restarts.js';
import { turnsOf } from './live-tries.js';
import { runPrefix } from './users.js';

/** Prefixes of notes; the number of the change follows. */
const CHANGE = 'live change ';
const ALIVE = 'live processes ';
const LATER = 'live, later';
/** Users without effect that are tried again after the load, and for how long, s. */
const AGAIN_MOST = 10;
const AGAIN_S = 1.5;

/**
 * @typedef {import('./live-plan.js').Kind} Kind
 * @typedef {import('./live-restarts.js').Alive} Alive
 * @typedef {import('./panel.js').Panel} Panel
 * @typedef {import('./scenario.js').Turn} Turn
 * @typedef {object} Change that the panel confirmed; ms since 1970
 * @property {Kind} kind
 * @property {string} user
 * @property {number} sent
 * @property {number} answered
 * @property {'seen' | 'never' | 'untried'} effect never: not within the patience
 * @property {number} [least_ms] beginning of the last connection without the effect, after the answer
 * @property {number} [most_ms] first byte, or beginning of the refused connection, after the answer
 * @typedef {{ user: string, kind: Kind, after: 'time' | 'a restart of the core' | null }} Later
 * @typedef {import('../scenario.js').Begun & { runId: string, token: string | null, users: Record<string, any>, echo: import('../meter.js').Echo, alive: Alive[] | null }} Data
 */

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
  /** @param {import('./live-plan.js').Sizes & { flowRate: number }} sizes */
  constructor(sizes) {
    this.sizes = sizes;
    this.plan = new LivePlan(sizes);
    this.inbound = inboundOf() ?? '';
    /** Processes at the last look of this virtual user. */
    this.seen = '';
  }

  /** In setup(). @param {Panel} panel @param {any} session */
  prepare(panel, session) {
    if (!this.inbound)
      stop(
        'panel/users-live: set PANEL_INBOUND to the Shadowsocks inbound of the panel: ss://127.0.0.1:PORT',
      );
    if (!present()) stop('panel/users-live: the sidecar keeps the flows: run the scenario by `make`');
    const { plan } = this;
    const [off, on, gone] = /** @type {const} */ (['disable', 'enable', 'delete']).map((kind) =>
      plan.of(session.runId, kind),
    );
    panel.createAll(session, [...plan.kept(session.runId), ...off, ...on, ...gone]);
    panel.disableAll(session, on);
    const all = panel.everyone(session, runPrefix(session.runId) + GROUP) ?? stop(panel.unread);
    const strange = all.find((user) => !keyOf(user).password);
    if (strange) stop('panel: it does not tell the Shadowsocks keys of its users, so nothing can be tried');
    const users = Object.fromEntries(all.map((user) => [user.username, slim(user)]));
    const echo = startEcho({ host: '127.0.0.1', engine: 'events' });
    const alive = aliveNow();
    if (alive) say(ALIVE + -1, alive);
    return { users, echo, alive };
  }

  /** @param {Data} data */
  at(data) {
    return { address: this.inbound, target: data.echo.tcp };
  }

  /** The iteration that keeps the flows open. @param {Data} data */
  follow(data) {
    const { plan, sizes } = this;
    const began = ownScenario().startTime;
    const of = (/** @type {string[]} */ names) => names.map((name) => data.users[name]);
    follow(
      this.at(data),
      { kept: of(plan.kept(data.runId)), leaving: of(plan.of(data.runId, 'disable')) },
      {
        seconds: (began - data.wallOffset - now()) / 1000 + sizes.quiet + sizes.seconds + sizes.tail,
        rate: sizes.flowRate,
        changesFrom: began + sizes.quiet * 1000,
        changesUntil: began + (sizes.quiet + sizes.seconds) * 1000,
      },
    );
  }

  /** One change, and its effect. @param {Turn} turn */
  change({ panel, data, index, measure }) {
    const { kind, user } = this.plan.at(data.runId, index);
    let [sent, answered] = [0, 0];
    /** @type {import('./panel.js').Response | undefined} */
    let response;
    const done = measure(
      kind,
      () => {
        sent = data.wallOffset + now();
        response = this.send(panel, data, kind, user);
        answered = data.wallOffset + now();
        return response;
      },
      judgeOf(panel, kind, user),
    );
    if (done && response) {
      const change = { kind, user, sent, answered };
      say(CHANGE + index, { ...change, ...this.effect(panel, data, change, response) });
    }
    this.look(data, index);
  }

  /** @param {Panel} panel @param {Data} data @param {Kind} kind @param {string} user */
  send(panel, data, kind, user) {
    if (kind === 'create') return panel.create(data, user);
    if (kind === 'delete') return panel.remove(data, user, 'active');
    return panel.setStatus(data, user, kind === 'enable' ? 'active' : 'disabled');
  }

  /**
   * When a change took effect, recorded as an operation.
   * @param {Panel} panel @param {Data} data @param {{ kind: Kind, user: string, answered: number }} change
   * @param {import('./panel.js').Response} response
   * @returns {Pick<Change, 'effect' | 'least_ms' | 'most_ms'>}
   */
  effect(panel, data, { kind, user: name, answered }, response) {
    const user = data.users[name] ?? userOf(panel, data, name, response);
    const operation = effectOf(kind);
    try {
      if (!keyOf(user).password) throw new Error('the panel does not tell the key of a new user');
      const [turn] = turnsOf(this.at(data), [{ user, carries: CARRIES[kind] }], this.sizes.patience);
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
      recordErrors(operation, { network: 1 });
      console.warn(`${operation}: ${messageOf(error)}`);
      return { effect: 'untried' };
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
   * @param {Panel} panel @param {any} data
   */
  settle(panel, data) {
    try {
      say(LATER, this.later(panel, data));
    } catch (error) {
      console.warn(`panel/users-live: changes without effect were not tried again: ${messageOf(error)}`);
    }
    stopEcho(data.echo.id);
  }

  /** @param {Panel} panel @param {Data} data @returns {Later[]} */
  later(panel, data) {
    const all = changesSaid()
      .filter(({ effect, user }) => effect === 'never' && data.users[user])
      .slice(0, AGAIN_MOST);
    const stay = (/** @type {Change[]} */ some) => {
      const wanted = some.map(({ user, kind }) => ({ user: data.users[user], carries: CARRIES[kind] }));
      const turns = turnsOf(this.at(data), wanted, AGAIN_S);
      return some.filter((_, index) => turns[index] === null);
    };
    const slow = stay(all);
    if (slow.length > 0) panel.restart(data);
    const never = stay(slow);
    return all.map((change) => ({
      user: change.user,
      kind: change.kind,
      after: never.includes(change) ? null : slow.includes(change) ? 'a restart of the core' : 'time',
    }));
  }
}

/** @param {Panel} panel @param {Kind} kind @param {string} user */
function judgeOf(panel, kind, user) {
  if (kind === 'create') return panel.holds('username', user);
  if (kind === 'delete') return () => 1;
  return panel.holds('status', kind === 'enable' ? 'active' : 'disabled');
}

/** A user with the fields that a try needs. @param {any} user */
const slim = (user) => ({ username: user.username, proxies: { shadowsocks: keyOf(user) } });

/** A new user, of the answer or, if the dialect's answer has no user, of another request. @param {Panel} panel @param {any} data @param {string} name @param {import('./panel.js').Response} response */
function userOf(panel, data, name, response) {
  const made = panel.dialect.userIn('create', response);
  if (made && keyOf(made).password) return slim(made);
  return slim(panel.dialect.userIn('read', panel.read(data, name)) ?? { username: name });
}
