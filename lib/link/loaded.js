/** Measures latencies of rows, and of the link alone, under each load. */
import { said, say } from 'k6/x/windtunnel/record';
import { knownErrors, recordErrors, recordSeries } from '../dataplane/probe-operation.js';
import { operationOf } from '../protocols/row-operation.js';
import { controlOf } from './controls.js';
import { besideLoad } from './loads.js';
import { withControl, withRow } from './one-row.js';

/**
 * @typedef {import('./loads.js').Load} Load
 * @typedef {import('./loads.js').Sizes} Sizes
 * @typedef {import('./loads.js').Cell} Cell
 * @typedef {Record<string, Cell>} Cells by load
 */

/** Congestion controls of the plain TCP controls: the two most widely used. */
export const CONTROLS = ['cubic', 'bbr'];

/** Prefix of the names of these notes. No row has it. */
const PREFIX = '-loaded ';

/** In handleSummary. @param {string} operation @returns {Cells} */
export const cellsSaid = (operation) => said()[PREFIX + operation] ?? {};

/** The load under which round trips count as the operation's latencies: one transfer downwards. @param {Load[]} loads */
export const recordedLoad = (loads) => loads.find(({ direction }) => direction === 'down');

/**
 * @param {import('./way.js').Way} way
 * @param {string} operation
 * @param {Load[]} loads
 * @param {Sizes} sizes
 * @param {string} [congestion]
 * @returns {import('./lockstep.js').Steps<import('./one-row.js').Use<Cells>>}
 */
function allLoads(way, operation, loads, sizes, congestion) {
  return way.withFlows(function* (far) {
    /** @type {Cells} */
    const cells = {};
    // The idle measurement is first, since a load may leave a full queue.
    for (const load of loads.toSorted((a, b) => Number(a.transfers > 0) - Number(b.transfers > 0))) {
      const { cell, recorded } = yield* besideLoad(way, far, load, sizes, congestion);
      cells[load.name] = cell;
      if (recorded && load === recordedLoad(loads)) record(operation, recorded);
    }
    say(PREFIX + operation, cells);
    return { found: cells, missing: missingOf(cells, loads) };
  });
}

/** Records latencies. A late request has no latency and counts as failed. @param {string} operation @param {import('./loads.js').Recorded} recorded */
function record(operation, { series, late }) {
  recordSeries(operation, series);
  recordErrors(operation, knownErrors(late));
}

/** Names of the request types in messages. */
const WAYS = /** @type {const} */ ({ same: 'loaded tunnels', kept: 'another tunnel', fresh: 'new tunnels' });

/**
 * The first figure that is unknown, in words. A figure is unknown if more requests failed than the trimmed mean leaves out.
 * @param {Cells} cells
 * @param {Load[]} loads
 * @returns {string | undefined}
 */
export function missingOf(cells, loads) {
  for (const { name, title, transfers } of loads)
    for (const way of /** @type {(keyof typeof WAYS)[]} */ (Object.keys(WAYS))) {
      if (way === 'same' && transfers === 0) continue;
      const { ms = null, samples = 0, failed = 0 } = cells[name]?.[way] ?? {};
      if (ms !== null) continue;
      const when = transfers > 0 ? `beside ${title}` : title;
      return `too few requests on ${WAYS[way]} were answered ${when}: ${samples}, and ${failed} late or lost`;
    }
  return undefined;
}

/**
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {import('./batch.js').Entry} entry
 * @param {Load[]} loads
 * @param {Sizes} sizes
 */
export const loadRow = (plane, entry, loads, sizes) =>
  withRow(plane, entry, { log: 'loaded', link: String(plane.data.link?.about.text) }, (way) =>
    allLoads(way, operationOf(entry.row.row, entry.side), loads, sizes),
  );

/**
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {{ side: import('../protocols/sides.js').Side, congestion: string }} control
 * @param {Load[]} loads
 * @param {Sizes} sizes
 */
export function loadControl(plane, { side, congestion }, loads, sizes) {
  const link = String(plane.data.link?.about.text);
  return withControl(plane, { side, congestion, link }, (way) =>
    allLoads(way, controlOf(congestion), loads, sizes, congestion),
  );
}
