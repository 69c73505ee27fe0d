/** Runs the matrix with the made candidate. */
import { join } from 'node:path';
import { startBench } from './bench.js';
import { ROOT } from './k6.js';

export const CANDIDATE = join(ROOT, 'tests/fixtures/candidate');
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
