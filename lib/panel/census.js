/** What the panel holds, counted by SQL, or by its own API where there is no database to ask. */
import { beginsWith, numberOf, withDatabase } from './database.js';
import { protocolsOf } from './environment.js';
import { noteOf, runPrefix, seedPrefix } from './users.js';

/**
 * @typedef {object} Census counts of users; null where it cannot be told
 * @property {number | null} users of the run, without seeded ones
 * @property {number | null} active of them
 * @property {number | null} disabled of them
 * @property {number | null} incomplete of them: without one proxy of each protocol
 * @property {number | null} orphans proxies of no user at all
 * @property {number | null} seeded users of the run that were seeded
 * @property {number | null} others users that are not of the run
 */

const OWN = "users.username LIKE ? ESCAPE '!' AND users.note = ?";

/**
 * @param {import('./database.js').Connection} connection
 * @param {string} runId
 * @param {number} protocols of a user, and so its proxies
 * @returns {Census}
 */
function bySql(connection, runId, protocols) {
  const made = [beginsWith(runPrefix(runId)), noteOf(runId)];
  const seeded = [beginsWith(seedPrefix(runId)), noteOf(runId)];
  const count = (/** @type {string} */ query, /** @type {unknown[]} */ ...values) =>
    numberOf(connection, `SELECT COUNT(*) FROM ${query}`, ...values);
  const users = count(`users WHERE ${OWN}`, ...made);
  const left = count(`users WHERE ${OWN}`, ...seeded);
  return {
    users,
    active: count(`users WHERE ${OWN} AND status = 'active'`, ...made),
    disabled: count(`users WHERE ${OWN} AND status = 'disabled'`, ...made),
    // One statement: what is still being created may come between two.
    incomplete: count(
      `(SELECT users.id FROM users LEFT JOIN proxies ON proxies.user_id = users.id WHERE ${OWN} GROUP BY users.id HAVING COUNT(proxies.id) <> ?) AS incomplete`,
      ...made,
      protocols,
    ),
    orphans: count('proxies LEFT JOIN users ON users.id = proxies.user_id WHERE users.id IS NULL'),
    seeded: left,
    others: count('users') - users - left,
  };
}

/** @param {import('./panel.js').Panel} panel @param {import('./panel.js').Session} session @returns {Census} */
function byApi(panel, session) {
  const own = { search: runPrefix(session.runId) };
  const users = panel.total(session, own);
  const every = panel.total(session);
  return {
    users,
    active: panel.total(session, { ...own, status: 'active' }),
    disabled: panel.total(session, { ...own, status: 'disabled' }),
    incomplete: null,
    orphans: null,
    seeded: null,
    others: every === null || users === null ? null : every - users,
  };
}

/**
 * @param {import('./panel.js').Panel} panel
 * @param {import('./panel.js').Session} session
 * @returns {Census} throws what the database says
 */
export function takeCensus(panel, session) {
  const { database } = panel.environment;
  if (!database) return byApi(panel, session);
  return withDatabase(database, (connection) =>
    bySql(connection, session.runId, protocolsOf(panel.environment).length),
  );
}
