/** Operations of scenarios that measure rows of the matrix: one per row and side. */
import { runs } from './matrix.js';

/** @typedef {import('./matrix.js').Row} Row */
/** @typedef {Pick<import('./sides.js').Side, 'name' | 'engine' | 'server'>} Side */

/** @param {string} row @param {Pick<Side, 'name'>} [side] default: the baseline */
export const operationOf = (row, side) =>
  row.replace(/[^a-z0-9]/g, '_') + (side?.name === 'candidate' ? '_candidate' : '');

const OF_TRIPS = 'from a request of 1,024 bytes sent to its echo received';

/** An operation without bounds, because the row's outcome reports failures. @param {string} title @param {string} [latencyIs] */
export const rowOperation = (title, latencyIs = OF_TRIPS) => ({
  title,
  latencyIs,
  optional: true,
  bounds: { failed: 1, errors: undefined },
});

/**
 * An operation for each row and each side whose engine runs the row.
 * @param {Row[]} rows
 * @param {Side[]} sides
 * @param {string} [latencyIs]
 * @returns {Record<string, import('../scenario.js').Operations>}
 */
export const rowOperations = (rows, sides, latencyIs) =>
  Object.fromEntries(
    rows.flatMap((row) =>
      sides
        .filter((side) => runs(row, side) === true)
        .map((side) => [
          operationOf(row.row, side),
          rowOperation(side.name === 'candidate' ? `${row.row}, candidate` : row.row, latencyIs),
        ]),
    ),
  );
