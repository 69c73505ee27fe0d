/** The panel's entry in the environment: its URL, its users and its database. */
import { httpEntry, readAuth } from '../environment.js';
import { databaseAt } from './database-url.js';

/**
 * @typedef {object} PanelEnvironment
 * @property {string} name
 * @property {string} url base URL without a trailing slash
 * @property {import('../environment.js').Connection} connection
 * @property {import('../environment.js').Auth} auth
 * @property {Record<string, unknown>} user fields of each new user: Marzban's proxies and inbounds, or PasarGuard's proxy_settings and group_ids
 * @property {import('./database-url.js').Database | null} database null if the environment names no variable, or the
 *   variable is not set
 * @property {string[]} components names in the panel's Server-Timing header, the route first
 * @property {{ path: string, histogram: string, label: string } | null} prometheus
 * @property {Record<string, Record<string, import('../environment.js').Bounds>>} thresholds
 */

/** Names of a user's protocols. @param {Pick<PanelEnvironment, 'user'>} environment */
export const protocolsOf = ({ user }) => Object.keys(user.proxies ?? user.proxy_settings ?? {});

/** Components in the Server-Timing header of the reference panel (testbeds/panel). */
const COMPONENTS = ['route', 'database_pool', 'database', 'xray_remove', 'xray_add'];

/** @returns {PanelEnvironment} */
export function loadPanel() {
  const { name, own, url, connection, thresholds } = httpEntry('panel');
  const variable = own.database_env;
  const given = variable ? __ENV[variable] : '';
  return {
    name,
    url,
    connection,
    auth: readAuth('panel', own.auth, '/api/admin/token'),
    user: own.user,
    database: given ? databaseAt(given, variable) : null,
    components: own.components ?? COMPONENTS,
    prometheus: own.prometheus ?? null,
    thresholds,
  };
}
