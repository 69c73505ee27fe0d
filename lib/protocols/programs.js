/** The programs of protocols/interop and protocols/inner-tls. */
import { pathOf } from '../file.js';
import { defaultOf, envList } from '../variables.js';
import { ENGINES, programNamed } from './matrix.js';
import { candidateOf } from './sides.js';

/** @typedef {import('./sides.js').Program & { name: string }} Program */

/** The name of the program of CANDIDATE. */
const CANDIDATE = 'candidate';

/**
 * @typedef {{ engine: string, binary: string, version: string | null, sha256?: string | null, ran?: { file: string, sha256: string }[] }} Ran the
 *   program of client and server: `binary` is the file's name, `sha256` its digest. `ran` are the files that the processes
 *   executed, which are others if `binary` is a script
 */

/** A program's title: `sing-box 1.12.12` if the version is known, and the file's name if it differs from the engine's. @param {Ran} program */
export function programTitle({ engine, binary, version }) {
  // sing-box reports "unknown" if it was built without a version.
  const known = version !== null && version !== 'unknown' ? ` ${version}` : '';
  return `${engine}${known}${binary === engine ? '' : ` (${binary})`}`;
}

/** @param {string} name @returns {Program} */
function ownBuild(name) {
  const named = programNamed(name);
  if (named?.binary === '') return { name, ...named };
  // A further build of an engine has the engine's name before its own.
  const engine = /^[a-z0-9.-]+$/.test(name) && ENGINES.find((one) => name.startsWith(`${one}-`));
  if (!engine)
    throw `PROGRAMS: ${name}: an engine of testbeds/protocols/engines or another of our builds in bin/ is wanted`;
  return { name, engine, binary: pathOf(import.meta.resolve(`../../bin/${name}`)) };
}

/**
 * The programs of PROGRAMS, a list of our own builds, then CANDIDATE, the absolute path of another program.
 * @param {string} scenario that has the default of PROGRAMS
 * @param {string} [fallback] another default
 * @returns {Program[]}
 */
export function programsOf(scenario, fallback = String(defaultOf('PROGRAMS', scenario))) {
  const names = envList('PROGRAMS', fallback);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice) throw `PROGRAMS: ${twice} is there twice`;
  const builds = names.map(ownBuild);
  const candidate = candidateOf('CANDIDATE', 'sing-box');
  return candidate ? [...builds, { name: CANDIDATE, ...candidate }] : builds;
}
