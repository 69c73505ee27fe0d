/** Every variable that a user may set: k6/lists/variables.json is the one list of them. */
import { pathOf } from './file.js';

/** @typedef {{ name: string, what: string, most?: number, of: string[] }} Variable `of`: systems, or SYSTEM/SCENARIO; * is all, make the Makefile */

/** @type {Variable[]} */
export const VARIABLES = JSON.parse(open(pathOf(import.meta.resolve('../k6/lists/variables.json'))));

/** Of a count for which the list has no bound. */
const MOST_OF_ANY = 10_000_000;

/**
 * The most that a variable may be. What a variable counts at the same time needs memory, a connection or a file each:
 * far beyond these the machine is what fails.
 * @param {string} name
 */
export const mostOf = (name) => VARIABLES.find((variable) => variable.name === name)?.most ?? MOST_OF_ANY;
