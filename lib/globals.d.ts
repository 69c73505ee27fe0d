/** What k6 has as globals beyond @types/k6. https://grafana.com/docs/k6/latest/javascript-api/ */
declare const console: Record<'log' | 'debug' | 'info' | 'warn' | 'error', (...values: unknown[]) => void>;

/** What our k6 has in it beyond k6: https://github.com/grafana/xk6-sql */
declare module 'k6/x/sql' {
  const sql: { open(driver: unknown, dsn: string): unknown };
  export default sql;
}
declare module 'k6/x/sql/driver/mysql' {
  const driver: unknown;
  export default driver;
}
declare module 'k6/x/sql/driver/sqlite3' {
  const driver: unknown;
  export default driver;
}
