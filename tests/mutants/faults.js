import around from './faults/around.js';
import compared from './faults/compared.js';
import judged from './faults/judged.js';
import scripts from './faults/scripts.js';
import sidecar from './faults/sidecar.js';

/**
 * Faults that a tired developer could write. Each changes something that a user sees: a figure, a verdict, an exit code, a log, or a
 * process that is left. Mutation tools plant faults within one package (`make test-mutants-engine`). These faults are of all languages
 * and of the borders between them.
 *
 * `from` stands once in the file, and `to` takes its place. `tests` should find the fault, the cheapest first; the first
 * test that fails has found it.
 *
 * @typedef {object} Fault
 * @property {string} name
 * @property {string} what the fault does
 * @property {string} file
 * @property {string} from
 * @property {string} to
 * @property {import('./tries.js').Test[]} tests
 */

/** @type {Fault[]} */
export const FAULTS = [...judged, ...compared, ...sidecar, ...scripts, ...around];
