/**
 * Writes grafana/dashboards from grafana/boards; with --check it only reports whether they are up to date.
 * Usage: node grafana/generate.js [--check]
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { boards } from './boards/index.js';

const FOLDER = fileURLToPath(new URL('dashboards/', import.meta.url));

/** @returns {Record<string, string>} texts of the existing files */
export function committed() {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(FOLDER + name, 'utf8')]));
}

/** @returns {string[]} files that differ, are missing, or have no board */
export function outdated() {
  const [wanted, found] = [boards(), committed()];
  return [...new Set([...Object.keys(wanted), ...Object.keys(found)])].filter(
    (name) => wanted[name] !== found[name],
  );
}

function write() {
  mkdirSync(FOLDER, { recursive: true });
  const wanted = boards();
  for (const name of Object.keys(committed())) if (!(name in wanted)) rmSync(FOLDER + name);
  for (const [name, text] of Object.entries(wanted)) writeFileSync(FOLDER + name, text);
}

function check() {
  const files = outdated();
  if (files.length === 0) return;
  console.error(`grafana/dashboards: not up to date: ${files.join(', ')}: run make boards`);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--check') check();
  else write();
}
