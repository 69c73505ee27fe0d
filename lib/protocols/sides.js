/** Which two programs are compared, and which rows of the matrix they run. */
import { envNumber } from '../profiles.js';
import { MATRIX } from './matrix.js';

/** @typedef {'sing-box' | 'xray'} Engine */
/** @typedef {{ name: 'baseline' | 'candidate', engine: Engine, binary: string }} Side `binary` '' is our own build */

/** @param {string} variable @param {Engine} fallback @returns {Engine} */
function engineOf(variable, fallback) {
  const given = __ENV[variable] || fallback;
  if (given !== 'sing-box' && given !== 'xray') throw `${variable}=${given}: choose from sing-box, xray`;
  return given;
}

/** @param {string} variable @returns {string} */
function binaryOf(variable) {
  const given = __ENV[variable] || '';
  if (given === '' || given.startsWith('/')) return given;
  throw `${variable}=${given}: give the absolute path of a binary`;
}

/**
 * BASELINE and CANDIDATE are absolute paths, BASELINE_ENGINE and CANDIDATE_ENGINE whose configuration each reads;
 * CANDIDATE=xray is our own xray.
 * @returns {{ baseline: Side, candidate: Side | null }}
 */
export function sidesOf() {
  const engine = engineOf('BASELINE_ENGINE', 'sing-box');
  const baseline = { name: /** @type {const} */ ('baseline'), engine, binary: binaryOf('BASELINE') };
  const given = __ENV.CANDIDATE || '';
  if (given === '') return { baseline, candidate: null };
  if (given === 'xray' || given === 'sing-box')
    return { baseline, candidate: { name: 'candidate', engine: given, binary: '' } };
  return {
    baseline,
    candidate: {
      name: 'candidate',
      engine: engineOf('CANDIDATE_ENGINE', engine),
      binary: binaryOf('CANDIDATE'),
    },
  };
}

/** A note of a scenario that compares nothing. @returns {string[]} */
export const candidateLeft = () =>
  __ENV.CANDIDATE ? ['CANDIDATE was not measured: protocols/matrix alone compares'] : [];

/**
 * PROTOCOL is a list of rows; a name that ends with * is all rows that begin so.
 * @param {string} [fallback] unless it is given
 * @returns {import('./matrix.js').Row[]}
 */
export function selectedRows(fallback = '*') {
  const wanted = (__ENV.PROTOCOL || fallback).split(',').map((name) => name.trim());
  const fits = (/** @type {string} */ name, /** @type {string} */ row) =>
    name.endsWith('*') ? row.startsWith(name.slice(0, -1)) : row === name;
  const unknown = wanted.find((name) => !MATRIX.some(({ row }) => fits(name, row)));
  if (unknown !== undefined)
    throw `PROTOCOL=${unknown}: no such row; there are ${MATRIX.map(({ row }) => row).join(', ')}`;
  return MATRIX.filter(({ row }) => wanted.some((name) => fits(name, row)));
}

/** @param {string} name @param {string} variable that names it */
export function rowNamed(name, variable) {
  const found = MATRIX.find(({ row }) => row === name);
  if (found) return found;
  throw `${variable}: ${name}: no such row; there are ${MATRIX.map(({ row }) => row).join(', ')}`;
}

/** What a candidate must reach, as multiples of the baseline. @returns {import('./compare.js').Targets} */
export const targetsOf = () => ({
  throughput: envNumber('TARGET_THROUGHPUT', 0.9),
  latency: envNumber('TARGET_LATENCY', 1.2),
  memory: envNumber('TARGET_MEMORY', 1),
  tolerance: envNumber('TOLERANCE', 0.05),
});
