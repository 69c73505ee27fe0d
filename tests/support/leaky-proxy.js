/** The proxy of tests/support/leaky-proxy, which has known faults. */
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './k6.js';

const SOURCES = path.join(ROOT, 'tests/support/leaky-proxy');

/** Builds the proxy. @param {string} folder of the program @returns {string} its path */
export function buildLeakyProxy(folder) {
  const binary = path.join(folder, 'leaky-proxy');
  const files = readdirSync(SOURCES).filter((name) => name.endsWith('.go'));
  execFileSync('go', ['build', '-o', binary, ...files], {
    cwd: SOURCES,
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  return binary;
}

/** A program that takes the arguments of sing-box. @param {string} built @param {string} folder @param {string} flags @returns {string} its path */
export function withFlags(built, folder, flags) {
  const binary = path.join(folder, 'proxy');
  writeFileSync(binary, `#!/bin/sh\nexec '${built}' ${flags} "$@"\n`, { mode: 0o755 });
  return binary;
}

/** Builds the proxy. @param {string} folder @returns {(flags?: string) => string} the variable TESTBED of a proxy with these flags */
export function leakyProxy(folder) {
  const binary = buildLeakyProxy(folder);
  return (flags = '') => `own-proxy:binary=${binary},arguments=-listen 127.0.0.1:PORT ${flags}`.trim();
}
