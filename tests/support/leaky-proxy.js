/** The proxy of tests/support/leaky-proxy, which keeps a known amount of each connection. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from './k6.js';

/** Builds the proxy. @param {string} folder @returns {(flags?: string) => string} the variable TESTBED of a proxy with these flags */
export function leakyProxy(folder) {
  const binary = path.join(folder, 'leaky-proxy');
  const source = path.join(ROOT, 'tests/support/leaky-proxy/main.go');
  const env = { ...process.env, CGO_ENABLED: '0' };
  execFileSync('go', ['build', '-o', binary, source], { env });
  return (flags = '') => `own-proxy:binary=${binary},arguments=-listen 127.0.0.1:PORT ${flags}`.trim();
}
