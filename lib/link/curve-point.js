/** Measures one row of the matrix at the points of a curve, each with new processes. */
import { operationOf } from '../protocols/row-operation.js';
import { keepPoint } from './curves.js';
import { recordGoodput } from './live.js';
import { goesOn, withRow } from './one-row.js';
import { goodput } from './parts.js';
import { itemOf } from './points.js';

/**
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {import('./batch.js').Entry} entry
 * @param {{ direction: 'up' | 'down', warmup_s: number, seconds: number }} flow
 * @param {import('./points.js').Point[]} points
 * @param {string} link whose loss or round trip the points vary
 * @returns {import('./way.js').Steps<void>}
 */
export function* curveOf(plane, entry, flow, points, link) {
  const operation = operationOf(entry.row.row, entry.side);
  for (const point of points) {
    if (!goesOn(entry.row.row)) return;
    const item = itemOf(point);
    const about = { log: item.replace(/[^a-z0-9.]/g, '-'), link: `${link},${item}` };
    const mbit = yield* withRow(plane, entry, about, function* (way) {
      return { found: yield* way.withFlows((far) => goodput(way, far, flow)) };
    });
    keepPoint(operation, point, mbit);
    recordGoodput(operation, flow.direction, mbit);
  }
}
