/** Boards that systems bring along: scripts/SYSTEM/board.json describes each. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} Described
 * @property {string} system that owns the board: the folder's name
 * @property {string} name of the board's file, and in its uid; the system's unless the file gives another
 * @property {string} title
 * @property {string} description
 * @property {string[]} rows from top to bottom, names of grafana/boards/system.js
 */

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));

/** @param {string} system @returns {Described} */
function read(system) {
  const file = `scripts/${system}/board.json`;
  let given;
  try {
    given = JSON.parse(readFileSync(`${SCRIPTS}${system}/board.json`, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  const { name = system, title, description, rows, ...others } = given;
  const wrong = Object.keys(others)[0];
  if (wrong) throw new Error(`${file}: ${wrong}: unknown key; known here: name, title, description, rows`);
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) throw new Error(`${file}: name: must match [a-z0-9][a-z0-9-]*`);
  if (!title || !description) throw new Error(`${file}: title and description: give one line of text each`);
  if (!Array.isArray(rows) || rows.length === 0) throw new Error(`${file}: rows: give a list of rows`);
  return { system, name, title, description, rows };
}

/** Sorted by system. @type {Described[]} */
export const described = readdirSync(SCRIPTS)
  .filter((system) => existsSync(`${SCRIPTS}${system}/board.json`))
  .sort()
  .map(read);
