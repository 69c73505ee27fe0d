/**
 * Tries switched users through the proxy's Shadowsocks inbound, each with its own key: a disabled user must not carry data, and an
 * active user must. A new user is the control: if it carries nothing, the inbound says nothing about the others.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { refuse } from '../environment.js';
import { currentProfile } from '../profiles.js';
import { named } from '../section.js';
import { present, request } from '../sidecar.js';
import { asked, usersTried } from '../users/live-tries.js';
import { messageOf } from './database.js';
import { runPrefix, userName } from './users.js';

const NOTE = 'data plane';
/** Users that are tried, except in `full`, which tries all. */
const SAMPLE = 20;
const AT_ONCE = 64;
/** An active user may be slow on a busy machine. */
const ACTIVE_TIMEOUT_MS = 5000;
const DISABLED_TIMEOUT_MS = 2000;

/**
 * @typedef {{ tried: number, all: number, carrying: string[], silent: string[] }} Found `carrying`: disabled users that carried data;
 *   `silent`: active users that did not
 * @typedef {{ unchecked: string } | Found} DataPlane
 */

/** Address of the inbound, HOST:PORT, from PANEL_INBOUND; null: not set. @returns {string | null} */
export function inboundOf() {
  const given = __ENV.PANEL_INBOUND;
  if (!given) return null;
  const [, address] = /^ss:\/\/(127(?:\.\d+){3}:\d+)$/.exec(given) ?? [];
  return (
    address ?? refuse('PANEL_INBOUND: give the address of a Shadowsocks inbound here: ss://127.0.0.1:PORT')
  );
}

/** A user's Shadowsocks settings: Marzban and PasarGuard have them by protocol, 3x-ui in the user itself. @param {any} user @returns {{ method?: string, password?: string }} */
export const keyOf = (user) =>
  (user.proxies ?? user.proxy_settings ?? { shadowsocks: user }).shadowsocks ?? {};

/** Users at equal distances. @template T @param {T[]} all @returns {T[]} */
function sampleOf(all) {
  const count = currentProfile() === 'full' ? all.length : Math.min(SAMPLE, all.length);
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]);
}

/** A user as a probe takes it. @param {any} user of the panel's answers @returns {import('../users/live-tries.js').User} */
export const triedOf = (user) => ({ name: user.username, key: keyOf(user).password });

/** The inbound as a probe takes it. @param {string} address @param {any} user who tells the method */
export const inboundFor = (address, user) => ({
  protocol: 'shadowsocks',
  address,
  method: keyOf(user).method,
});

/**
 * Sends data of each user through the inbound.
 * @param {string} address of the inbound
 * @param {string} target of the far end
 * @param {any[]} users of the panel's list
 * @param {number} timeoutMs of one user
 * @returns {Map<string, boolean>} whether the user's data came back, by name
 */
function carried(address, target, users, timeoutMs) {
  if (users.length === 0) return new Map();
  const tried = usersTried({
    target,
    connections: Math.min(AT_ONCE, users.length),
    timeout_ms: timeoutMs,
    limit_s: 5 + Math.ceil((users.length / AT_ONCE + 1) * (timeoutMs / 1000)),
    users: { ...inboundFor(address, users[0]), list: users.map(triedOf) },
  });
  return new Map(tried.map((user) => [user.name, user.carried]));
}

/**
 * @param {import('./panel.js').Panel} panel
 * @param {import('./panel.js').Session} session
 * @param {string} group of the switched users' names
 * @param {string} address of the inbound
 * @returns {DataPlane}
 */
function tryAll(panel, session, group, address) {
  const prefix = runPrefix(session.runId);
  const control = userName(prefix, 'control', 0);
  panel.createAll(session, [control]);
  const made = panel.everyone(session, control)?.find(({ username }) => username === control);
  const all = panel.everyone(session, `${prefix}${group}`);
  if (!made || !all) return { unchecked: panel.unread || 'the panel does not list a new user' };
  if (!keyOf(made).password)
    return { unchecked: 'the panel does not tell the Shadowsocks keys of its users' };
  const users = sampleOf(all);
  const active = users.filter(({ status }) => status === 'active');
  const disabled = users.filter(({ status }) => status === 'disabled');
  const tried = active.length + disabled.length;
  if (tried === 0)
    return { unchecked: `the panel lists ${all.length} switched users, none active or disabled` };
  const echo = asked('POST', '/echoes', { host: '127.0.0.1' });
  try {
    const on = carried(address, echo.tcp, [made, ...active], ACTIVE_TIMEOUT_MS);
    if (!on.get(control)) return { unchecked: `a new user carries no data through ${address} either` };
    const off = carried(address, echo.tcp, disabled, DISABLED_TIMEOUT_MS);
    // An inbound that has gone in the meantime would let each disabled user pass.
    if (!carried(address, echo.tcp, [made], ACTIVE_TIMEOUT_MS).get(control))
      return { unchecked: `a new user carries no data through ${address} any more` };
    const names = (/** @type {any[]} */ some) => some.map(({ username }) => username);
    return {
      tried,
      all: all.length,
      carrying: names(disabled).filter((name) => off.get(name)),
      silent: names(active).filter((name) => !on.get(name)),
    };
  } finally {
    request('DELETE', `/echoes/${echo.id}`);
  }
}

/**
 * In teardown(), before the census: the control is a user of the run.
 * @param {import('./panel.js').Panel} panel @param {import('./panel.js').Session} session @param {string} group
 * @param {string | null} address of the inbound
 */
export function tryUsers(panel, session, group, address) {
  /** @type {DataPlane} */
  let found = { unchecked: 'PANEL_INBOUND is not set' };
  if (address && !present()) found = { unchecked: 'there is no sidecar' };
  else if (address) {
    try {
      found = tryAll(panel, session, group, address);
    } catch (error) {
      found = { unchecked: messageOf(error) };
    }
  }
  say(NOTE, found);
}

/** @returns {DataPlane} */
const found = () => said()[NOTE] ?? { unchecked: 'the run ended before' };

/** In handleSummary: disabled users that carried data, and active users that did not. @returns {import('k6/x/windtunnel/judge').Fact[]} */
export function dataPlaneFacts() {
  const plane = found();
  if ('unchecked' in plane) return [];
  return /** @type {const} */ ([
    ['data plane: disabled users that carry data', plane.carrying],
    ['data plane: active users that carry none', plane.silent],
  ]).map(([check, names]) => ({
    check,
    source: 'far_end',
    found: { said: names.length },
    reported: { said: 0 },
  }));
}

/** In handleSummary: what was tried, and the names of users with a fault. @returns {string[]} */
export function dataPlaneNotes() {
  const plane = found();
  if ('unchecked' in plane) return [`not checked in the data plane: ${plane.unchecked}`];
  return [
    `${plane.tried} of ${plane.all} users were tried in the data plane, each with its own key`,
    ...named('disabled users that still carry data', plane.carrying),
    ...named('active users that carry no data', plane.silent),
  ];
}
