/** A checkout in another folder, with the programs built here. */
import { cpSync, symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { ROOT } from './k6.js';

/** Files that are built or written, from the root of the checkout, as in .gitignore. */
const MADE = ['.git', 'bin', '.venv', 'results', 'sidecar/target', 'sidecar/primitives/target'];

/** Committed results. */
const KEPT = 'results/baselines';

/** @param {string} path */
const isSource = (path) => !MADE.includes(relative(ROOT, path)) && basename(path) !== 'node_modules';

/** Links built files, and copies the rest with its times, so that make finds nothing to build. @param {string} folder to create */
export function copyCheckout(folder) {
  cpSync(ROOT, folder, { recursive: true, preserveTimestamps: true, filter: isSource });
  for (const built of ['bin', '.venv', 'node_modules']) symlinkSync(join(ROOT, built), join(folder, built));
  cpSync(join(ROOT, KEPT), join(folder, KEPT), { recursive: true });
}
