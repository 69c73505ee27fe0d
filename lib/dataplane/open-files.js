/** Checks before the load whether the sidecar may open enough files. */
import { ask } from '../meter.js';

/** Sockets per connection: the probe's and, if it goes direct, the far end's. */
const SOCKETS_EACH = 2;
/** Other open files of the sidecar. */
const SPARE = 64;

/**
 * @param {number} connections at once
 * @returns {string | null} one line with the remedy if the limit is too low; null if it suffices or is unknown
 */
export function tooFewFiles(connections) {
  const { open_files: most } = ask('GET', '/limits');
  const needed = SOCKETS_EACH * connections + SPARE;
  if (most === null || needed <= most) return null;
  const fit = Math.floor((most - SPARE) / SOCKETS_EACH);
  return `${connections} connections at once take ${needed} open files, and the limit is ${most}: raise it (ulimit -n ${needed}, as root also its hard part), or ask for at most ${fit}`;
}
