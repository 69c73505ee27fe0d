/** The two programs to compare, and the rows of the matrix to run. */
import { sides } from 'k6/x/windtunnel/protocols';
import { pathOf } from '../file.js';
import { defaultOf, envList, envNumber } from '../variables.js';
import { MATRIX, hasHop } from './matrix.js';

/** @typedef {import('./matrix.js').Engine} Engine */
/**
 * @typedef {object} Program
 * @property {Engine} engine whose configuration format it reads
 * @property {string} binary path; '' is our own build
 * @property {string} [args] additional arguments, separated by spaces
 * @property {string} [env] additional environment, NAME=VALUE separated by spaces
 * @property {string} [filter] path of a program that rewrites its configuration
 *
 * @typedef {Program & { name: 'baseline' | 'candidate', server?: Program, settings: Record<string, string> }} Side the program of
 *   both ends, or only of the client if `server` is given; `settings` are parameters of a run that say how it is started
 */

/**
 * The sides of the variables whose names begin so; docs/reference/protocols.md has their forms.
 * @param {RegExp} names
 * @returns {{ baseline: Side, candidate: Side | null }}
 */
function read(names) {
  const given = Object.keys(__ENV).filter((name) => names.test(name));
  const all = Object.fromEntries(given.map((name) => [name, __ENV[name]]));
  const { sides: found, error } = sides(pathOf(import.meta.resolve('../..')), all);
  if (found) return JSON.parse(found);
  throw error;
}

/** The baseline, which every run has. */
export const baselineOf = () => read(/^BASELINE/).baseline;

/** The baseline, and the candidate if one is given. */
export const sidesOf = () => read(/^(BASELINE|CANDIDATE)/);

/** The program of a side that is not our own build, preferably the client. @param {Side} side @returns {Program} */
export const namedProgram = (side) => (side.binary === '' && side.server ? side.server : side);

/** A note for scenarios that compare nothing. @returns {string[]} */
export const candidateLeft = () =>
  __ENV.CANDIDATE ? ['CANDIDATE was not measured: protocols/matrix alone compares'] : [];

/** A note for scenarios that take their programs from PROGRAMS. @returns {string[]} */
export const baselineLeft = () =>
  __ENV.BASELINE ? ['BASELINE was not measured: PROGRAMS and CANDIDATE name the programs'] : [];

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
