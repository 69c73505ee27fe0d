/** Checks before the load whether the sidecar may open enough files. */
import { stop } from '../execution.js';
import { ask } from '../meter.js';

/** Other open files of the sidecar. */
const SPARE = 64;

/**
 * @param {number} connections at once
 * @param {number} [each] sockets per connection. Default: the probe's and, if it goes direct, the far end's
 * @returns {string | null} one line with the remedy if the limit is too low; null if it suffices or is unknown
 */
function tooFewFiles(connections, each = 2) {
  const { open_files: most } = ask('GET', '/limits');
  const needed = each * connections + SPARE;
  if (most === null || needed <= most) return null;
  const fit = Math.floor((most - SPARE) / each);
  return `${connections} connections at once take ${needed} open files, and the limit is ${most}: raise it (ulimit -n ${needed}, as root also its hard part), or ask for at most ${fit}`;
}

/**
 * In setup(): ends a run that needs more open files than the limit.
 * @param {{ connections?: number, socketsEach?: number }} definition
 */
export function checkFiles({ connections, socketsEach }) {
  const files = connections ? tooFewFiles(connections, socketsEach) : null;
  if (files) stop(files);
}
