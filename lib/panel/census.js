/** Counts the panel's users, by SQL or, without a database, by the panel's API. */
import { beginsWith, numberOf, withDatabase } from './database.js';
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

const OF_RUN = "users.username LIKE ? ESCAPE '!' AND users.note = ?";

/**
 * @param {import('./database.js').Connection} connection
 * @param {string} runId
 * @param {number} protocols number of protocols of a user, and so of its proxies
 * @returns {Census}
 */
function bySql(connection, runId, protocols) {
  const created = [beginsWith(runPrefix(runId)), noteOf(runId)];
  const seeded = [beginsWith(seedPrefix(runId)), noteOf(runId)];
  const count = (/** @type {string} */ query, /** @type {unknown[]} */ ...values) =>
    numberOf(connection, `SELECT COUNT(*) FROM ${query}`, ...values);
  const users = count(`users WHERE ${OF_RUN}`, ...created);
  const left = count(`users WHERE ${OF_RUN}`, ...seeded);
  return {
    users,
    active: count(`users WHERE ${OF_RUN} AND status = 'active'`, ...created),
    disabled: count(`users WHERE ${OF_RUN} AND status = 'disabled'`, ...created),
    // One statement, because users may be created between two statements.
    incomplete: count(
      `(SELECT users.id FROM users LEFT JOIN proxies ON proxies.user_id = users.id WHERE ${OF_RUN} GROUP BY users.id HAVING COUNT(proxies.id) <> ?) AS incomplete`,
      ...created,
      protocols,
    ),
    orphans: count('proxies LEFT JOIN users ON users.id = proxies.user_id WHERE users.id IS NULL'),
    seeded: left,
    others: count('users') - users - left,
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
  return withDatabase(stored, (connection) =>
    bySql(connection, session.runId, protocolsOf(panel.environment).length),
  );
}
