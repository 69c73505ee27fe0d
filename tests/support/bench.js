/** Runs `k6 x bench` into a separate run under results/, and removes the run. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { K6, ROOT, cleanEnvironment, start } from './k6.js';

/** A test ignores other benches on the machine, and does not measure again on a busy machine. */
export const ON_ANY_MACHINE = { BESIDE: '1', AGAIN: '0' };

/** Messages of a bench about other benches beside it. */
const OF_OTHERS = /^another bench runs .* \(BESIDE is set\)\n/gm;

let count = 0;

/**
 * @param {Record<string, string>} variables
 * @param {string[]} [args]
 */
export function startBench(variables, args = []) {
  count += 1;
  const id = `test-${process.pid}-${count}`;
  const folder = join(ROOT, 'results', id);
  const run = start(K6, ['x', 'bench', '--run-id', id, ...args], {
    env: { ...cleanEnvironment(), ...ON_ANY_MACHINE, ...variables },
  });
  return {
    ...run,
    output: {
      get stdout() {
        return run.output.stdout;
      },
      /** Standard error without messages about other benches. */
      get stderr() {
        return run.output.stderr.replaceAll(OF_OTHERS, '');
      },
    },
    folder,
    /** @param {string} name such as pulsar-ingest */
    result: (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')),
    /** @param {string} name */
    has: (name) => existsSync(join(folder, name)),
    /** Every file of the run with its text. */
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => ({
          name: entry.name,
          path: relative(folder, join(entry.parentPath, entry.name)),
          text: readFileSync(join(entry.parentPath, entry.name), 'utf8'),
        })),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * The lines of errors: from standard error if nothing could run, else the lines of the summary that say why a scenario was
 * not set up.
 * @param {{ stdout: string, stderr: string }} output
 */
export function errorLines({ stdout, stderr }) {
  const early = stderr.split('\n').filter((line) => line.trim() !== '');
  return early.length > 0 ? early : stdout.split('\n').filter((line) => line.includes(': set-up failed: '));
}

/**
 * Refused variables are reported in one line. The exit code is 2 before anything starts, if the registry bounds the variable,
 * else 4 from the script.
 * @param {Record<string, string>} variables
 * @param {RegExp} line
 */
export async function assertRefused(variables, line) {
  const bench = startBench(variables);
  try {
    const code = await bench.ended;
    const { stdout, stderr } = bench.output;
    assert.ok(code === 2 ? stdout === '' : code === 4, `${code}\n${stdout}`);
    const lines = errorLines({ stdout, stderr: code === 2 ? stderr : '' });
    assert.equal(lines.length, 1, `${stdout}${stderr}`);
    assert.match(lines[0], line);
  } finally {
    bench.remove();
  }
}
