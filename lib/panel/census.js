/** Counts the panel's users, by SQL or, without a database, by the panel's API. */
import { beginsWith, isOfRun, numberOf, quoted, withDatabase } from './database.js';
import { protocolsOf } from './environment.js';
import { noteOf, runPrefix, seedPrefix } from './users.js';

/**
 * @typedef {object} Census numbers of users; null: unknown
 * @property {number | null} users of the run, without seeded ones
 * @property {number | null} active users of the run
 * @property {number | null} disabled users of the run
 * @property {number | null} incomplete users of the run that lack a proxy of some protocol
 * @property {number | null} orphans proxies without a user
 * @property {number | null} seeded users that the run seeded
 * @property {number | null} others users that do not belong to the run
 */

/**
 * @param {import('./database.js').Connection} connection
 * @param {import('./dialect.js').Tables} tables
 * @param {string} runId
 * @param {number} protocols number of protocols of a user, and so of its proxies
 * @returns {Census}
 */
function bySql(connection, tables, runId, protocols) {
  const { status } = tables.users;
  const [users, proxies] = [quoted(tables.users.name), quoted(tables.proxies.name)];
  const [id, owner] = [`${users}.${quoted(tables.users.id)}`, `${proxies}.${quoted(tables.proxies.user)}`];
  const ofRun = `${users} WHERE ${isOfRun(tables.users)}`;
  const inStatus = `${ofRun} AND ${quoted(status.column)} = ?`;
  const created = [beginsWith(runPrefix(runId)), noteOf(runId)];
  const seeded = [beginsWith(seedPrefix(runId)), noteOf(runId)];
  const count = (/** @type {string} */ query, /** @type {unknown[]} */ ...values) =>
    numberOf(connection, `SELECT COUNT(*) FROM ${query}`, ...values);
  const there = count(ofRun, ...created);
  const left = count(ofRun, ...seeded);
  return {
    users: there,
    active: count(inStatus, ...created, status.active),
    disabled: count(inStatus, ...created, status.disabled),
    // One statement, because users may be created between two statements.
    incomplete: count(
      `(SELECT ${id} FROM ${users} LEFT JOIN ${proxies} ON ${owner} = ${id} WHERE ${isOfRun(tables.users)} GROUP BY ${id} HAVING COUNT(${owner}) <> ?) AS incomplete`,
      ...created,
      protocols,
    ),
    orphans: count(`${proxies} LEFT JOIN ${users} ON ${id} = ${owner} WHERE ${id} IS NULL`),
    seeded: left,
    others: count(users) - there - left,
  };
}

/** @param {import('./panel.js').Panel} panel @param {import('./panel.js').Session} session @returns {Census} */
function byApi(panel, session) {
  const ofRun = { search: runPrefix(session.runId) };
  const users = panel.total(session, ofRun);
  const every = panel.total(session);
  return {
    users,
    active: panel.total(session, { ...ofRun, status: 'active' }),
    disabled: panel.total(session, { ...ofRun, status: 'disabled' }),
    incomplete: null,
    orphans: null,
    seeded: null,
    others: every === null || users === null ? null : every - users,
  };
}

/**
 * @param {import('./panel.js').Panel} panel
 * @param {import('./panel.js').Session} session
 * @returns {Census} throws the database's error
 */
export function takeCensus(panel, session) {
  const { stored } = panel.environment;
  if (!stored) return byApi(panel, session);
  return withDatabase(stored.database, (connection) =>
    bySql(connection, stored.tables, session.runId, protocolsOf(panel.environment).length),
  );
}
