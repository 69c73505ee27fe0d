/** The variables by which a caller of a benchmark asks. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

export const ROOT = join(import.meta.dirname, '..');

/**
 * A whole number; another value ends the benchmark.
 * @param {string} variable @param {number} fallback @param {{ least?: number, most?: number }} [bounds]
 */
export function whole(variable, fallback, { least = 1, most = 100 } = {}) {
  const given = Number(process.env[variable] || fallback);
  if (Number.isInteger(given) && given >= least && given <= most) return given;
  console.error(`${variable}=${process.env[variable]}: a whole number from ${least} to ${most} is wanted`);
  return process.exit(2);
}

/** RUN_ID, and its folder of results. @param {string} name of the benchmark */
export function resultsOf(name) {
  const id = process.env.RUN_ID || `${name}-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  const folder = join(ROOT, 'results', id);
  mkdirSync(folder, { recursive: true });
  return { id, folder };
}
