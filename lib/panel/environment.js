/** The panel's entry in the environment: its URL, its users and its database. */
import { askedForOptions, httpEntry, readAuth, refuse } from '../environment.js';
import { databaseAt } from './database-url.js';
import { DIALECTS, readDialect } from './dialect.js';

/**
 * @typedef {object} PanelEnvironment
 * @property {string} name
 * @property {string} url base URL without a trailing slash
 * @property {import('../environment.js').Connection} connection
 * @property {import('../environment.js').Auth} auth
 * @property {import('./dialect.js').Dialect} dialect how the panel takes each operation
 * @property {import('./dialect.js').Dialect[]} others dialects that the panel may resemble; none outside of setup()
 * @property {Record<string, unknown>} user fields of each new user: Marzban's proxies and inbounds, PasarGuard's proxy_settings and group_ids, or any of another dialect
 * @property {import('./database-url.js').Database | null} database null if the environment names no variable, or the
 *   variable is not set
 * @property {Stored | null} stored the database, if its tables are known: users are seeded and counted in it
 * @property {string[]} components names in the panel's Server-Timing header, the route first
 * @property {{ path: string, histogram: string, label: string } | null} prometheus
 * @property {Record<string, Record<string, import('../environment.js').Bounds>>} thresholds
 */

/** @typedef {{ database: import('./database-url.js').Database, tables: import('./dialect.js').Tables }} Stored */

/** Names of a user's protocols. @param {Pick<PanelEnvironment, 'user'>} environment */
export const protocolsOf = ({ user }) => Object.keys(user.proxies ?? user.proxy_settings ?? {});

/** Components in the Server-Timing header of the reference panel (testbeds/panel). */
const COMPONENTS = ['route', 'database_pool', 'database', 'xray_remove', 'xray_add'];

/** The dialect of a panel's entry. Refuses an entry that lacks what the dialect needs. @param {any} own @param {string} folder */
function spokenBy({ dialect: given = 'marzban', user, auth }, folder) {
  const dialect = readDialect(given, folder);
  const { login, title } = dialect.file;
  const lack = dialect.lackOf(user);
  if (lack && !askedForOptions()) refuse(`systems.panel.user.${lack}: missing, and ${title} needs it`);
  if (login === null && auth.mode === 'login')
    refuse(`systems.panel.auth: ${title} takes a token: give mode token, and token_env`);
  return dialect;
}

/** @returns {PanelEnvironment} */
export function loadPanel() {
  const { name, own, url, connection, thresholds, folder } = httpEntry('panel');
  const variable = own.database_env;
  const given = variable ? __ENV[variable] : '';
  const database = given ? databaseAt(given, variable) : null;
  const dialect = spokenBy(own, folder);
  const { tables, login, cookie } = dialect.file;
  return {
    name,
    url,
    connection,
    dialect,
    // Only setup() asks which dialect a panel resembles.
    others: __VU > 0 ? [] : DIALECTS.filter((one) => one !== dialect.name).map((one) => readDialect(one)),
    auth: readAuth('panel', own.auth, login ?? '', cookie),
    user: own.user,
    database,
    stored: database && tables && { database, tables },
    components: own.components ?? COMPONENTS,
    prometheus: own.prometheus ?? null,
    thresholds,
  };
}
