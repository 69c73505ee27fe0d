/**
 * From a database's URL, as SQLAlchemy and so Marzban's SQLALCHEMY_DATABASE_URL
 * writes it (https://docs.sqlalchemy.org/en/20/core/engines.html#database-urls), to
 * what xk6-sql opens: the DSN of go-sql-driver/mysql or of modernc.org/sqlite.
 */
import { confirmHost, refuse } from '../environment.js';

/** @typedef {{ dialect: 'mysql' | 'sqlite', dsn: string }} Database dsn: a secret, since it holds the password */

const MYSQL =
  /^(?:mysql|mariadb)(?:\+\w+)?:\/\/([^:@/]*)(?::([^@]*))?@(\[[0-9a-fA-F:]+\]|[^:/?#[\]]+)(?::(\d+))?\/([^/?#]+)(?:\?.*)?$/;
const SQLITE = /^sqlite(?:\+\w+)?:\/\/\/(\/[^?]+)(?:\?.*)?$/;

/**
 * @param {string} text
 * @param {string} variable that holds it, for the line that refuses it
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
  // Values in the statement's text, as Python's drivers send them: no PREPARE beside each statement.
  const options = 'timeout=10s&readTimeout=120s&writeTimeout=120s&interpolateParams=true&charset=utf8mb4';
  return { dialect: 'mysql', dsn: `${login}@tcp(${host}:${port})/${decodeURIComponent(name)}?${options}` };
}

/** mode=rw: a wrong path is an error, not a new file. @param {string} path */
const sqliteDsn = (path) =>
  `file:${path.replace(/[%#]/g, encodeURIComponent)}?mode=rw&_pragma=busy_timeout(30000)`;
