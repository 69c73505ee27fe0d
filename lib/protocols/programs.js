/** The programs of protocols/interop and protocols/inner-tls. */
import { pathOf } from '../file.js';
import { defaultOf, envList } from '../variables.js';
import { ENGINES } from './matrix.js';
import { sidesOf } from './sides.js';

/** @typedef {import('./sides.js').Program & { name: string, settings?: Record<string, string> }} Program */

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
  if (ENGINES.includes(name)) return { name, engine: name, binary: '' };
  // A further build of an engine has the engine's name before its own.
  const engine = /^[a-z0-9.-]+$/.test(name) && ENGINES.find((one) => name.startsWith(`${one}-`));
  if (!engine)
    throw `PROGRAMS: ${name}: an engine of testbeds/protocols/engines or another of our builds in bin/ is wanted`;
  return { name, engine, binary: pathOf(import.meta.resolve(`../../bin/${name}`)) };
}

/**
 * The programs of PROGRAMS, a list of our own builds, then the program of CANDIDATE.
 * @param {string} scenario that has the default of PROGRAMS
 * @param {string} [fallback] another default
 * @returns {Program[]}
 */
export function programsOf(scenario, fallback = String(defaultOf('PROGRAMS', scenario))) {
  const names = envList('PROGRAMS', fallback);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice) throw `PROGRAMS: ${twice} is there twice`;
  const builds = names.map(ownBuild);
  const { candidate } = sidesOf();
  if (candidate?.server)
    throw 'CANDIDATE: one program for both ends is wanted here: leave client and server out';
  return candidate ? [...builds, candidate] : builds;
}
