/** Before the load: may the sidecar open what the scenario needs at once? */
import { ask } from './meter.js';

/** Of each connection: the probe's own socket, and where it goes direct the far end's. */
const SOCKETS_EACH = 2;
/** What the sidecar has open besides. */
const SPARE = 64;

/**
 * @param {number} connections at once
 * @returns {string | null} one line with the mend where they do not fit; null where they do, or nobody can tell
 */
export function tooFewFiles(connections) {
  const { open_files: most } = ask('GET', '/limits');
  const needed = SOCKETS_EACH * connections + SPARE;
  if (most === null || needed <= most) return null;
  const fit = Math.floor((most - SPARE) / SOCKETS_EACH);
  return `${connections} connections at once take ${needed} open files, and the limit is ${most}: raise it (ulimit -n ${needed}, as root also its hard part), or ask for at most ${fit}`;
}
