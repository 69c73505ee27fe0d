/** Which two programs are compared, and which rows of the matrix they run. */
import { defaultOf, envChoice, envList, envNumber } from '../variables.js';
import { MATRIX, hasHop, programNamed } from './matrix.js';

/** @typedef {import('./matrix.js').Engine} Engine */
/**
 * @typedef {object} Program
 * @property {Engine} engine whose configuration it reads
 * @property {string} binary '' is our own build
 * @property {string} [args] what it is started with besides, words with spaces between them
 * @property {string} [env] NAME=VALUE of its environment, with spaces between them
 * @property {string} [filter] a program that rewrites its configuration
 *
 * @typedef {Program & { name: 'baseline' | 'candidate', server?: Program }} Side the program of both ends, or of the client where `server` is another
 */

/** @param {string} variable @returns {string} */
function binaryOf(variable) {
  const given = __ENV[variable] || '';
  if (given === '' || given.startsWith('/')) return given;
  throw `${variable}=${given}: give the absolute path of a binary`;
}

/** What a program needs besides. @param {'BASELINE' | 'CANDIDATE'} side */
const besides = (side) => ({
  args: __ENV[`${side}_ARGS`] || '',
  env: __ENV[`${side}_ENV`] || '',
  filter: binaryOf(`${side}_FILTER`),
});

/**
 * CANDIDATE, or CANDIDATE_CLIENT and CANDIDATE_SERVER apart, as a program with what it needs besides.
 * @param {string} variable
 * @param {Engine} fallback
 * @returns {Program | null} null where it is not set
 */
export function candidateOf(variable, fallback) {
  const given = __ENV[variable] || '';
  if (given === '') return null;
  const named = programNamed(given);
  return {
    engine: named?.engine ?? /** @type {Engine} */ (envChoice('CANDIDATE_ENGINE', fallback)),
    binary: named?.binary ?? binaryOf(variable),
    ...besides('CANDIDATE'),
  };
}

/** @returns {Program} */
const baselineProgram = () => ({
  engine: /** @type {Engine} */ (envChoice('BASELINE_ENGINE')),
  binary: binaryOf('BASELINE'),
  ...besides('BASELINE'),
});

/** The side that there always is. @returns {Side} */
export const baselineOf = (program = baselineProgram()) => ({ name: 'baseline', ...program });

/**
 * BASELINE and CANDIDATE are absolute paths, BASELINE_ENGINE and CANDIDATE_ENGINE whose configuration each reads;
 * CANDIDATE=xray is our own xray, and any other name of testbeds/protocols/engines is what its file says. Of CANDIDATE_CLIENT and CANDIDATE_SERVER the one that is not set is the baseline's.
 * @returns {{ baseline: Side, candidate: Side | null }}
 */
export function sidesOf() {
  const own = baselineProgram();
  const baseline = baselineOf(own);
  const { engine } = own;
  const name = /** @type {const} */ ('candidate');
  const both = candidateOf('CANDIDATE', engine);
  const client = candidateOf('CANDIDATE_CLIENT', engine);
  const server = candidateOf('CANDIDATE_SERVER', engine);
  if (both && (client || server))
    throw 'CANDIDATE is both ends: leave CANDIDATE_CLIENT and CANDIDATE_SERVER out';
  if (both) return { baseline, candidate: { name, ...both } };
  if (!client && !server) return { baseline, candidate: null };
  return { baseline, candidate: { name, ...(client ?? own), server: server ?? own } };
}

/** The program of a side that is not our own build, the client's first. @param {Side} side @returns {Program} */
export const namedProgram = (side) => (side.binary === '' && side.server ? side.server : side);

/** A note of a scenario that compares nothing. @returns {string[]} */
export const candidateLeft = () =>
  __ENV.CANDIDATE || __ENV.CANDIDATE_CLIENT || __ENV.CANDIDATE_SERVER
    ? ['CANDIDATE was not measured: protocols/matrix alone compares']
    : [];

/**
 * PROTOCOL is a list of rows; a name that ends with * is all rows that begin so.
 * @param {string} scenario whose default it is unless it is given
 * @param {string} [fallback] in place of that default
 * @returns {import('./matrix.js').Row[]}
 */
export function selectedRows(scenario, fallback = String(defaultOf('PROTOCOL', scenario))) {
  const wanted = envList('PROTOCOL', fallback);
  const fits = (/** @type {string} */ name, /** @type {string} */ row) =>
    name.endsWith('*') ? row.startsWith(name.slice(0, -1)) : row === name;
  const unknown = wanted.find((name) => !MATRIX.some(({ row }) => fits(name, row)));
  if (unknown !== undefined)
    throw `PROTOCOL=${unknown}: no such row; there are ${MATRIX.map(({ row }) => row).join(', ')}`;
  return MATRIX.filter(({ row }) => wanted.some((name) => fits(name, row)));
}

/**
 * What the matrix measures in smoke, as PROTOCOL has it: of what an observer of a hop may see the first row that shows it, and all rows
 * without a hop, as far as the oldest program runs them. protocols/interop starts every row with a hop in smoke, too.
 * @param {Pick<Side, 'engine'>} side
 */
export function smokeRows({ engine }) {
  const able = MATRIX.filter(({ engines, since }) => engines[engine] === true && since === undefined);
  const first = new Set(able.map(({ wire }) => able.find((row) => hasHop(row) && row.wire === wire)));
  return able
    .filter((row) => !hasHop(row) || first.has(row))
    .map(({ row }) => row)
    .join(',');
}

/** @param {string} name @param {string} variable that names it */
export function rowNamed(name, variable) {
  const found = MATRIX.find(({ row }) => row === name);
  if (found) return found;
  throw `${variable}: ${name}: no such row; there are ${MATRIX.map(({ row }) => row).join(', ')}`;
}

/** What a candidate must reach, as multiples of the baseline. @returns {import('./compare.js').Targets} */
export const targetsOf = () => ({
  throughput: envNumber('TARGET_THROUGHPUT'),
  latency: envNumber('TARGET_LATENCY'),
  first_reply: envNumber('TARGET_FIRST_REPLY'),
  round_trips: envNumber('TARGET_ROUND_TRIPS'),
  memory: envNumber('TARGET_MEMORY'),
  tolerance: envNumber('TOLERANCE'),
});
