/** How a row ended on one side, by name. */

/**
 * @typedef {'measured' | 'errors' | 'missing binary' | 'refused configuration' | 'crashed at start' |
 *   'died in mid-run' | 'corrupted payload' | 'impossible here' | 'not reached'} Name
 * @typedef {{ outcome: Name, detail: string | null }} Outcome
 */

/** Kinds of errors that say that payload was changed on the way. */
export const CORRUPT = ['corrupted', 'truncated'];

/** Whether the file that a start lacks is the program under test. @param {string} path @param {string} binary */
const isProgram = (path, binary) => (binary ? path === binary : /\/bin\/(sing-box|xray)$/.test(path));

/** Go's panics end with 2, Rust's with 101; what refuses its configuration says so and ends with 1. @param {string} line */
function hasCrashed(line) {
  const status = Number(/exit status (\d+)/.exec(line)?.[1] ?? 0);
  return /\(signal \d+\)/.test(line) || status === 2 || status >= 100;
}

/**
 * @param {string} line the sidecar's, of a start that failed
 * @param {string} binary path of the program under test, '' for the one that `make testbeds` builds
 * @param {boolean} [cannot] this machine or user cannot run it
 * @returns {Outcome}
 */
export function ofFailedStart(line, binary, cannot = false) {
  const missing = /needs (\S+), which does not exist/.exec(line)?.[1];
  /** @type {Name} */
  let outcome = hasCrashed(line) ? 'crashed at start' : 'refused configuration';
  if (missing && isProgram(missing, binary)) outcome = 'missing binary';
  else if (missing || cannot) outcome = 'impossible here';
  return { outcome, detail: line };
}

/**
 * @param {Record<string, number>} errors by kind, of all probes of the row
 * @param {{ name: string, exit: string | null }[]} processes of the instance, after them
 * @returns {Outcome}
 */
export function ofProbes(errors, processes) {
  const dead = processes.filter(({ exit }) => exit !== null);
  if (dead.length > 0) {
    const detail = dead.map(({ name, exit }) => `${name} ended: ${exit}`).join(', ');
    return { outcome: 'died in mid-run', detail };
  }
  const kinds = Object.keys(errors).filter((kind) => errors[kind] > 0);
  if (kinds.length === 0) return { outcome: 'measured', detail: null };
  const detail = kinds.map((kind) => `${errors[kind]} × ${kind}`).join(', ');
  return { outcome: kinds.some((kind) => CORRUPT.includes(kind)) ? 'corrupted payload' : 'errors', detail };
}

/** Worst first: what a row is called whose turns ended differently. */
const ORDER = /** @type {Name[]} */ ([
  'missing binary',
  'impossible here',
  'refused configuration',
  'crashed at start',
  'corrupted payload',
  'died in mid-run',
  'errors',
  'measured',
]);

/** @param {Outcome[]} outcomes of the turns of one side @returns {Outcome} */
export function worst(outcomes) {
  const told = [...outcomes].sort((a, b) => Number(b.detail !== null) - Number(a.detail !== null));
  const first = ORDER.map((name) => told.find(({ outcome }) => outcome === name)).find(Boolean);
  return first ?? { outcome: 'not reached', detail: null };
}
