/**
 * Module hooks that let node:test load lib/ outside of k6: `k6` and `k6/...` resolve to
 * the fakes beside this file. Use: node --import ./tests/fakes/register.js
 */
const FAKES = new Map([
  ['k6', './k6.js'],
  ['k6/crypto', './k6-crypto.js'],
  ['k6/encoding', './k6-encoding.js'],
  ['k6/execution', './k6-execution.js'],
  ['k6/http', './k6-http.js'],
  ['k6/x/windtunnel/record', './k6-record.js'],
  ['k6/x/windtunnel/runner', './k6-runner.js'],
  ['k6/timers', './k6-timers.js'],
  ['k6/websockets', './k6-websockets.js'],
  ['k6/x/sql', './k6-sql.js'],
  ['k6/x/windtunnel/difference', './k6-difference.js'],
  ['k6/x/windtunnel/judge', './k6-judge.js'],
  ['k6/x/windtunnel/environment', './k6-environment.js'],
  ['k6/x/windtunnel/protocols', './k6-protocols.js'],
  ['k6/x/windtunnel/silent', './k6-silent.js'],
  ['k6/x/windtunnel/barrier', './k6-barrier.js'],
  ['k6/x/windtunnel/variables', './k6-variables.js'],
  ['k6/x/sql/driver/mysql', './k6-sql.js'],
  ['k6/x/sql/driver/sqlite3', './k6-sql.js'],
]);

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const fake = FAKES.get(specifier);
  return fake ? next(new URL(fake, import.meta.url).href, context) : next(specifier, context);
}
