/** Latency of rows, and of the link alone, beside each load. */
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

/** Plain TCP over the same link, by both that people compare. */
export const CONTROLS = ['cubic', 'bbr'];

/** What was said of a way begins so; no row is called so. */
const PREFIX = '-loaded ';

/** In handleSummary. @param {string} operation @returns {Cells} */
export const cellsSaid = (operation) => said()[PREFIX + operation] ?? {};

/** At rest first: nothing of a load is left then. @param {Load[]} loads */
const inTurn = (loads) => loads.toSorted((a, b) => Number(a.transfers > 0) - Number(b.transfers > 0));

/** The load whose round trips are the latencies of an operation: one transfer downwards. @param {Load[]} loads */
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
    for (const load of inTurn(loads)) {
      const { cell, recorded } = yield* besideLoad(way, far, load, sizes, congestion);
      cells[load.name] = cell;
      if (recorded && load === recordedLoad(loads)) record(operation, recorded);
    }
    say(PREFIX + operation, cells);
    return { found: cells, missing: missingOf(cells, loads) };
  });
}

/** What came too late has no latency: it has failed. @param {string} operation @param {import('./loads.js').Recorded} recorded */
function record(operation, { series, late }) {
  recordSeries(operation, series);
  recordErrors(operation, knownErrors(late));
}

/** What requests go through. */
const WAYS = /** @type {const} */ ({ same: 'loaded tunnels', kept: 'another tunnel', fresh: 'new tunnels' });

/**
 * Where more never came than the slowest that are left out, nobody knows the figure.
 * @param {Cells} cells
 * @param {Load[]} loads
 * @returns {string | undefined} the first of these, in words
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
