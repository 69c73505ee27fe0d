/**
 * Converts a database URL to the DSN that xk6-sql opens (go-sql-driver/mysql or modernc.org/sqlite). The URL has
 * SQLAlchemy's format, as Marzban's SQLALCHEMY_DATABASE_URL has
 * (https://docs.sqlalchemy.org/en/20/core/engines.html#database-urls).
 */
import { confirmHost, refuse } from '../environment.js';

/** @typedef {{ dialect: 'mysql' | 'sqlite', dsn: string }} Database dsn: a secret, since it contains the password */

const MYSQL =
  /^(?:mysql|mariadb)(?:\+\w+)?:\/\/([^:@/]*)(?::([^@]*))?@(\[[0-9a-fA-F:]+\]|[^:/?#[\]]+)(?::(\d+))?\/([^/?#]+)(?:\?.*)?$/;
const SQLITE = /^sqlite(?:\+\w+)?:\/\/\/(\/[^?]+)(?:\?.*)?$/;

/**
 * @param {string} text
 * @param {string} variable that holds the URL, for messages
 * @returns {Database}
 */
export function databaseAt(text, variable) {
  const sqlite = SQLITE.exec(text);
  if (sqlite) return { dialect: 'sqlite', dsn: sqliteDsn(sqlite[1]) };
  const mysql = MYSQL.exec(text);
  if (!mysql) {
    return refuse(
      `${variable}: not a database URL that can be used: write mysql://USER:PASSWORD@HOST:PORT/NAME or sqlite:////absolute/path`,
    );
  }
  const [, user, password = '', host, port = '3306', name] = mysql;
  confirmHost(host);
  const login = `${decodeURIComponent(user)}:${decodeURIComponent(password)}`;
  // interpolateParams puts values into the statement, as Python's drivers do. It saves a PREPARE per statement.
  const options = 'timeout=10s&readTimeout=120s&writeTimeout=120s&interpolateParams=true&charset=utf8mb4';
  return { dialect: 'mysql', dsn: `${login}@tcp(${host}:${port})/${decodeURIComponent(name)}?${options}` };
}

/** With mode=rw a wrong path is an error instead of a new file. @param {string} path */
const sqliteDsn = (path) =>
  `file:${path.replace(/[%#]/g, encodeURIComponent)}?mode=rw&_pragma=busy_timeout(30000)`;
