/** How a panel changes users while others talk (lib/users/live.js). */
import { stop } from '../execution.js';
import { KINDS, LivePlan } from '../users/live-plan.js';
import { Live, keepKey } from '../users/live.js';
import { inboundFor, inboundOf, keyOf, triedOf } from './data-plane.js';
import { namesOf } from './scenario.js';
import { runPrefix } from './users.js';

export const GROUP = 'live';

/**
 * @typedef {import('../users/live-plan.js').Kind} Kind
 * @typedef {import('./panel.js').Panel} Panel
 */

export class PanelLive extends Live {
  /** @param {import('../users/live-plan.js').Sizes} sizes */
  constructor(sizes) {
    super(new LivePlan(sizes, KINDS, namesOf(GROUP)));
    this.address = inboundOf() ?? '';
  }

  /** In setup(). @param {Panel} panel @param {any} session */
  begin(panel, session) {
    if (!this.address)
      stop(
        'panel/users-live: set PANEL_INBOUND to the Shadowsocks inbound of the panel: ss://127.0.0.1:PORT',
      );
    this.check();
    const { plan } = this;
    const [off, on, gone] = /** @type {const} */ (['disable', 'enable', 'delete']).map((kind) =>
      plan.of(session.runId, kind),
    );
    panel.createAll(session, [...plan.kept(session.runId), ...off, ...on, ...gone]);
    panel.disableAll(session, on);
    const all = panel.everyone(session, runPrefix(session.runId) + GROUP) ?? stop(panel.unread);
    const strange = all.find((user) => !keyOf(user).password);
    if (strange) stop('panel: it does not tell the Shadowsocks keys of its users, so nothing can be tried');
    return this.prepare(session.runId, inboundFor(this.address, all[0]), all.map(triedOf));
  }

  /** In teardown(). A restart that the panel refused shows nothing. @param {Panel} panel @param {any} data */
  settleBy(panel, data) {
    this.settle(data, () => {
      const answer = panel.restart(data);
      if (!panel.dialect.accepts('restart', answer))
        throw new Error(panel.problem('restarting its core', answer, 'restart'));
    });
  }

  /** One change by the panel. @param {import('./scenario.js').Turn} turn */
  changeBy({ panel, data, index, measure }) {
    this.change(data, index, (kind, name, timed) => {
      /** @type {import('./panel.js').Response | undefined} */
      let response;
      const done = measure(
        kind,
        () => (response = timed(() => send(panel, data, kind, name))),
        judgeOf(panel, kind, name),
      );
      if (!done || !response) return false;
      if (kind === 'create') keepKey(userOf(panel, data, name, response));
      return true;
    });
  }
}

/** @param {Panel} panel @param {any} data @param {Kind} kind @param {string} user */
function send(panel, data, kind, user) {
  if (kind === 'create') return panel.create(data, user);
  if (kind === 'delete') return panel.remove(data, user, 'active');
  return panel.setStatus(data, user, kind === 'enable' ? 'active' : 'disabled');
}

/** @param {Panel} panel @param {Kind} kind @param {string} user */
function judgeOf(panel, kind, user) {
  if (kind === 'create') return panel.holds('username', user);
  if (kind === 'delete') return () => 1;
  return panel.holds('status', kind === 'enable' ? 'active' : 'disabled');
}

/** A new user, of the answer or, if the dialect's answer has no user, of another request. @param {Panel} panel @param {any} data @param {string} name @param {import('./panel.js').Response} response */
function userOf(panel, data, name, response) {
  const made = panel.dialect.userIn('create', response, name);
  if (made && keyOf(made).password) return triedOf(made);
  return triedOf(panel.dialect.userIn('read', panel.read(data, name), name) ?? { username: name });
}
