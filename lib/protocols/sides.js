/** The two programs to compare, and the rows of the matrix to run. */
import { defaultOf, envList, envNumber, envText } from '../variables.js';
import { ENGINES, MATRIX, hasHop, programNamed } from './matrix.js';

/** @typedef {import('./matrix.js').Engine} Engine */
/**
 * @typedef {object} Program
 * @property {Engine} engine whose configuration format it reads
 * @property {string} binary path; '' is our own build
 * @property {string} [args] additional arguments, separated by spaces
 * @property {string} [env] additional environment, NAME=VALUE separated by spaces
 * @property {string} [filter] path of a program that rewrites its configuration
 *
 * @typedef {Program & { name: 'baseline' | 'candidate', server?: Program }} Side the program of both ends, or only of the client if `server` is given
 */

/** @param {string} variable @returns {string} */
function binaryOf(variable) {
  const given = __ENV[variable] || '';
  if (given === '' || given.startsWith('/')) return given;
  throw `${variable}=${given}: give the absolute path of a binary`;
}

/** Additional settings of a program. @param {'BASELINE' | 'CANDIDATE'} side */
const besides = (side) => ({
  args: __ENV[`${side}_ARGS`] || '',
  env: __ENV[`${side}_ENV`] || '',
  filter: binaryOf(`${side}_FILTER`),
});

/** The engine that a variable names. @param {'BASELINE_ENGINE' | 'CANDIDATE_ENGINE'} variable @param {Engine} [fallback] @returns {Engine} */
function engineOf(variable, fallback) {
  const engine = __ENV[variable] || fallback || envText(variable);
  if (ENGINES.includes(engine)) return engine;
  throw `${variable}=${engine}: choose one of ${ENGINES.join(', ')}`;
}

/**
 * The program of CANDIDATE, CANDIDATE_CLIENT or CANDIDATE_SERVER.
 * @param {string} variable
 * @param {Engine} fallback
 * @returns {Program | null} null if the variable is not set
 */
export function candidateOf(variable, fallback) {
  const given = __ENV[variable] || '';
  if (given === '') return null;
  const named = programNamed(given);
  return {
    engine: named?.engine ?? engineOf('CANDIDATE_ENGINE', fallback),
    binary: named?.binary ?? binaryOf(variable),
    ...besides('CANDIDATE'),
  };
}

/** @returns {Program} */
const baselineProgram = () => ({
  engine: engineOf('BASELINE_ENGINE'),
  binary: binaryOf('BASELINE'),
  ...besides('BASELINE'),
});

/** The baseline, which every run has. @returns {Side} */
export const baselineOf = (program = baselineProgram()) => ({ name: 'baseline', ...program });

/**
 * The sides of the variables. BASELINE and CANDIDATE are absolute paths. BASELINE_ENGINE and CANDIDATE_ENGINE say whose
 * configuration format each reads. CANDIDATE may also be a name of testbeds/protocols/engines, such as xray for our own build.
 * If only one of CANDIDATE_CLIENT and CANDIDATE_SERVER is set, the other end is the baseline's.
 * @returns {{ baseline: Side, candidate: Side | null }}
 */
export function sidesOf() {
  const program = baselineProgram();
  const baseline = baselineOf(program);
  const { engine } = program;
  const name = /** @type {const} */ ('candidate');
  const both = candidateOf('CANDIDATE', engine);
  const client = candidateOf('CANDIDATE_CLIENT', engine);
  const server = candidateOf('CANDIDATE_SERVER', engine);
  if (both && (client || server))
    throw 'CANDIDATE is both ends: leave CANDIDATE_CLIENT and CANDIDATE_SERVER out';
  if (both) return { baseline, candidate: { name, ...both } };
  if (!client && !server) return { baseline, candidate: null };
  return { baseline, candidate: { name, ...(client ?? program), server: server ?? program } };
}

/** The program of a side that is not our own build, preferably the client. @param {Side} side @returns {Program} */
export const namedProgram = (side) => (side.binary === '' && side.server ? side.server : side);

/** A note for scenarios that compare nothing. @returns {string[]} */
export const candidateLeft = () =>
  __ENV.CANDIDATE || __ENV.CANDIDATE_CLIENT || __ENV.CANDIDATE_SERVER
    ? ['CANDIDATE was not measured: protocols/matrix alone compares']
    : [];

/**
 * The rows of PROTOCOL. A name that ends with * selects all rows with this prefix.
 * @param {string} scenario that selects the default
 * @param {string} [fallback] another default
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

/** Ways in by rules of the firewall. A smoke run of dataplane/tproxy has such rules, too. */
const NOT_IN_SMOKE = ['redirect', 'tproxy'];

/**
 * The rows of a smoke run, in the format of PROTOCOL: the first row for each kind of wire and, without a hop, for each other way in, if
 * the oldest program can run them with what `make bench` builds. A smoke run of protocols/interop starts every row with a hop.
 * @param {Pick<Side, 'engine'>} side
 */
export function smokeRows({ engine }) {
  const able = MATRIX.filter(
    ({ engines, since, needs, inbound }) =>
      engines[engine] === true &&
      since === undefined &&
      needs !== 'tun2proxy' &&
      !NOT_IN_SMOKE.includes(inbound),
  );
  const kindOf = (/** @type {import('./matrix.js').Row} */ row) => (hasHop(row) ? row.wire : row.inbound);
  return able
    .filter((row) => able.find((one) => hasHop(one) === hasHop(row) && kindOf(one) === kindOf(row)) === row)
    .map(({ row }) => row)
    .join(',');
}

/** @param {string} name @param {string} variable that names it */
export function rowNamed(name, variable) {
  const found = MATRIX.find(({ row }) => row === name);
  if (found) return found;
  throw `${variable}: ${name}: no such row; there are ${MATRIX.map(({ row }) => row).join(', ')}`;
}

/** The candidate's targets, as multiples of the baseline. @returns {import('./compare.js').Targets} */
export const targetsOf = () => ({
  throughput: envNumber('TARGET_THROUGHPUT'),
  latency: envNumber('TARGET_LATENCY'),
  first_reply: envNumber('TARGET_FIRST_REPLY'),
  round_trips: envNumber('TARGET_ROUND_TRIPS'),
  memory: envNumber('TARGET_MEMORY'),
  tolerance: envNumber('TOLERANCE'),
});
