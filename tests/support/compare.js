/** Runs `k6 x compare` into a separate run under results/, and removes the run. */
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ON_ANY_MACHINE } from './bench.js';
import { K6, ROOT, cleanEnvironment, start } from './k6.js';

const OF_OTHERS = /^another bench runs .* \(BESIDE is set\)\n/gm;

let count = 0;

/**
 * @param {string[]} args
 * @param {Record<string, string>} [variables]
 */
export function startCompare(args, variables = {}) {
  count += 1;
  const id = `test-compare-${process.pid}-${count}`;
  const folder = join(ROOT, 'results', id);
  const run = start(K6, ['x', 'compare', '--run-id', id, ...args], {
    env: { ...cleanEnvironment(), ...ON_ANY_MACHINE, ...variables },
  });
  return {
    ...run,
    folder,
    /** The lines on standard error, without messages about other benches. */
    get lines() {
      return run.output.stderr
        .replaceAll(OF_OTHERS, '')
        .split('\n')
        .filter((line) => line !== '');
    },
    /** @param {string} name of a file of the comparison */
    text: (name) => readFileSync(join(folder, name), 'utf8'),
    /** @returns {any} */
    result: () => JSON.parse(readFileSync(join(folder, 'compare.json'), 'utf8')),
    /** Every text of the run, and its output. */
    texts: () => [
      run.output.stdout,
      run.output.stderr,
      ...(existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
    ],
    has: (/** @type {string} */ name) => existsSync(join(folder, name)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * A comparison that has ended.
 * @param {string[]} args
 * @param {Record<string, string>} [variables]
 */
export async function compared(args, variables) {
  const run = startCompare(args, variables);
  const code = await run.ended;
  return Object.assign(run, { code: Number(code) });
}
