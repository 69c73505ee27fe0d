/** Users that exist before the load (variable EXISTING): seeded by SQL, loaded by the panel, and removed afterwards. */
import { refuse } from '../environment.js';
import { protocolsOf } from './environment.js';
import { messageOf, withDatabase } from './database.js';
import { seed, unseed } from './seed.js';

/** @typedef {import('./panel.js').Panel} Panel */
/** @typedef {import('./panel.js').Session} Session */

/** Why no user can be seeded, and the fix; '' if users can be. @param {import('./environment.js').PanelEnvironment} environment */
function obstacleOf({ database, dialect, user }) {
  const { tables, title } = dialect.file;
  if (!tables) return `the dialect of ${title} has no tables, so no user can be seeded: leave EXISTING out`;
  if (!database)
    return "users are seeded by SQL: name the variable with the database's URL in systems.panel.database_env, and set it";
  const protocols = protocolsOf({ user });
  if (protocols.length === 0)
    return 'systems.panel.user has no proxies, and users without any cannot be seeded';
  const known = Object.keys(tables.proxies.protocols);
  const strange = protocols.find((protocol) => !known.includes(protocol));
  return strange ? `systems.panel.user has ${strange}: only ${known.join(', ')} can be seeded` : '';
}

/** In the init phase: refuses users that cannot be seeded. @param {number} count @param {import('./environment.js').PanelEnvironment} environment */
export function checkExisting(count, environment) {
  const obstacle = count > 0 ? obstacleOf(environment) : '';
  if (obstacle) refuse(`EXISTING=${count}: ${obstacle}`);
}

/** The largest number of users created through the API of an empty panel. The panel adds them to xray one by one. */
const CREATED_MOST = 500;

/**
 * In setup(), for a scenario that needs users: how many to seed by SQL on an empty panel, and how many to create through
 * the API if SQL is impossible. Seeding restarts the panel's core; on an empty panel that breaks no connections.
 * @param {Panel} panel
 * @param {import('./census.js').Census | null} before
 * @param {number} wanted
 * @returns {{ seeded: number, made: number }} zeros if the panel has users, or if their number is unknown
 */
export function toFill({ environment }, before, wanted) {
  if (before?.others !== 0) return { seeded: 0, made: 0 };
  if (obstacleOf(environment)) return { seeded: 0, made: Math.min(wanted, CREATED_MOST) };
  return { seeded: wanted, made: 0 };
}

/** @param {Panel} panel @param {string} runId @returns {ReturnType<typeof unseed> | null} null, with an error in the log, if it failed */
function removeSeeded({ environment }, runId) {
  try {
    const { database, tables } = /** @type {import('./environment.js').Stored} */ (environment.stored);
    return withDatabase(database, (connection) => unseed(connection, tables, runId));
  } catch (error) {
    console.error(`panel: seeded users of run ${runId} may be left: ${messageOf(error)}`);
    return null;
  }
}

/** In setup(): seeds users. Throws the error of the database or of the panel. @param {Panel} panel @param {Session} session @param {number} count */
export function addExisting(panel, session, count) {
  if (count === 0) return;
  const { database, tables } = /** @type {import('./environment.js').Stored} */ (panel.environment.stored);
  const users = { runId: session.runId, count, protocols: protocolsOf(panel.environment) };
  try {
    withDatabase(database, (connection) => seed(connection, database.dialect, tables, users));
  } catch (error) {
    throw new Error(`panel: EXISTING=${count}: ${messageOf(error)}`, { cause: error });
  }
  const response = panel.restart(session);
  if (!panel.dialect.accepts('restart', response))
    throw new Error(panel.problem('restarting its core, so that it knows the seeded users', response));
}

/**
 * Removes seeded users, in teardown() or after a failed set-up.
 * @param {Panel} panel
 * @param {Session} session
 * @returns {number | null} number of users left; null, with an error in the log: unknown
 */
export function removeExisting(panel, session) {
  const found = removeSeeded(panel, session.runId);
  // A restart disconnects the panel's clients, so restart only if a user was removed.
  if (!found || found.removed === 0) return found?.left ?? null;
  const response = panel.restart(session);
  if (!panel.dialect.accepts('restart', response))
    console.error(panel.problem('restarting its core, so that it forgets the seeded users', response));
  return found.left;
}
