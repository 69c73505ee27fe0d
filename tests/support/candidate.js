/** Runs the matrix with the made candidate. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { startBench } from './bench.js';
import { ROOT, temporaryFolder } from './k6.js';

export const CANDIDATE = join(ROOT, 'tests/fixtures/candidate');

const folder = temporaryFolder('sides');
process.on('exit', folder.remove);

/** The value of TOML. @param {unknown} value @returns {string} */
const toml = (value) =>
  typeof value !== 'object' || Array.isArray(value)
    ? JSON.stringify(value)
    : `{ ${Object.entries(value ?? {}).map((pair) => `${pair[0]} = ${toml(pair[1])}`)} }`;

/** Writes the file of a side, and returns its path. @param {Record<string, string | string[] | Record<string, string>>} keys */
export function sideFile(keys) {
  const path = join(folder.fresh(), 'side.toml');
  writeFileSync(
    path,
    Object.entries(keys)
      .map(([key, value]) => `${key} = ${toml(value)}\n`)
      .join(''),
  );
  return path;
}

/** The file of the made candidate with a fault, and further keys. @param {string} fault @param {Record<string, string>} [keys] */
export const faulty = (fault, keys = {}) =>
  sideFile({ program: CANDIDATE, env: { CANDIDATE_FAULT: fault }, ...keys });

const MATRIX = { ONLY: 'protocols/matrix', PROFILE: 'smoke', TURNS: '2', TUNNELS: '10' };

/**
 * Runs a few short turns.
 * @param {Record<string, string>} variables
 * @param {(found: { code: unknown, result: any, bench: ReturnType<typeof startBench> }) => void} check
 */
export async function matrix(variables, check) {
  const bench = startBench({ ...MATRIX, ...variables });
  try {
    const code = await bench.ended;
    check({ code, result: bench.result('protocols-matrix'), bench });
  } finally {
    bench.remove();
  }
}
