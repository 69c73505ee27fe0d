/** The programs of which it is asked who understands whom. */
import { pathOf } from '../file.js';
import { envList } from '../variables.js';
import { candidateOf } from './sides.js';

/** @typedef {import('./sides.js').Program & { name: string }} Program */

/** Our own builds, by the names that `make` gives them in bin/. */
const OWN = /^(sing-box|xray)(-[a-z0-9.]+)?$/;
/** The name of CANDIDATE among them. */
export const CANDIDATE = 'candidate';

/**
 * @typedef {{ engine: string, binary: string, version: string | null, sha256?: string | null, ran?: { file: string, sha256: string }[] }} Ran what
 *   ran as client and server: `binary` is the file's name, `sha256` its digest, and `ran` are the files that its processes really
 *   ran, which are others where it is a script
 */

/** `sing-box 1.12.12`, where the version is known, and the file's name where it is another. @param {Ran} program */
export function programTitle({ engine, binary, version }) {
  // What sing-box says of itself, built without one.
  const known = version !== null && version !== 'unknown' ? ` ${version}` : '';
  return `${engine}${known}${binary === engine ? '' : ` (${binary})`}`;
}

/** @param {string} name @returns {Program} */
function ownBuild(name) {
  const engine = /** @type {import('./sides.js').Engine | undefined} */ (OWN.exec(name)?.[1]);
  if (!engine) throw `PROGRAMS: ${name}: sing-box, xray or another of our builds in bin/ is wanted`;
  if (name === engine) return { name, engine, binary: '' };
  return { name, engine, binary: pathOf(import.meta.resolve(`../../bin/${name}`)) };
}

/**
 * PROGRAMS is a list of our own builds; CANDIDATE, the absolute path of another program, comes last.
 * @returns {Program[]}
 */
export function programsOf() {
  const names = envList('PROGRAMS');
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice) throw `PROGRAMS: ${twice} is there twice`;
  const own = names.map(ownBuild);
  const candidate = candidateOf('CANDIDATE', 'sing-box');
  return candidate ? [...own, { name: CANDIDATE, ...candidate }] : own;
}
