/** A checkout elsewhere, with what is built here. */
import { cpSync, symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { ROOT } from './k6.js';

/** What is built or written, from the root of the checkout, as .gitignore has it. */
const MADE = ['.git', 'bin', '.venv', 'results', 'sidecar/target', 'sidecar/primitives/target'];

/** What is committed of results. */
const KEPT = 'results/baselines';

/** @param {string} path */
const isSource = (path) => !MADE.includes(relative(ROOT, path)) && basename(path) !== 'node_modules';

/** What is built is linked, the rest copied with its times, so that make finds nothing to build. @param {string} folder that is not there yet */
export function copyCheckout(folder) {
  cpSync(ROOT, folder, { recursive: true, preserveTimestamps: true, filter: isSource });
  for (const built of ['bin', '.venv', 'node_modules']) symlinkSync(join(ROOT, built), join(folder, built));
  cpSync(join(ROOT, KEPT), join(folder, KEPT), { recursive: true });
}
