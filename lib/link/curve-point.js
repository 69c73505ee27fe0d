/** One row of the matrix at the points of a curve, each with processes of its own. */
import { said, say } from 'k6/x/windtunnel/record';
import { startSides, stopSides } from '../protocols/instances.js';
import { older, withFault } from '../protocols/excuse.js';
import { shown, worst } from '../protocols/outcome.js';
import { operationOf } from '../protocols/row-operation.js';
import { spreadOf } from '../dataplane/sweep.js';
import { curveSaid, keepPoint } from './curves.js';
import { recordGoodput } from './live.js';
import { goodput } from './parts.js';
import { itemOf } from './points.js';
import { toldRate } from './rows.js';
import { Way } from './way.js';

/** What was said of a row's ends begins so; no row is called so. */
const PREFIX = '-ended ';

/** @type {Map<string, import('../protocols/outcome.js').Outcome[]>} of this VU, by row */
const ended = new Map();

export class CurvePoint {
  /**
   * @param {import('../dataplane/scenario.js').Plane} plane
   * @param {import('./batch.js').Entry} entry
   * @param {{ direction: 'up' | 'down', warmup_s: number, seconds: number }} flow
   */
  constructor(plane, { row, side }, flow) {
    this.plane = plane;
    this.row = row;
    this.side = side;
    this.flow = flow;
    this.operation = operationOf(row.row, side);
    /** @type {import('../protocols/outcome.js').Outcome[]} */
    this.outcomes = ended.get(row.row) ?? [];
    ended.set(row.row, this.outcomes);
  }

  /** @param {import('./points.js').Point[]} points @param {string} link that they vary */
  all(points, link) {
    for (const point of points) {
      // One that cannot be started is not tried again at each point.
      if (this.outcomes.some(({ outcome }) => outcome !== 'measured' && outcome !== 'errors')) break;
      const mbit = this.one(`${link},${itemOf(point)}`, itemOf(point));
      keepPoint(this.operation, point, mbit);
      recordGoodput(this.operation, this.flow.direction, mbit);
    }
    say(PREFIX + this.row.row, this.outcomes);
  }

  /** @param {string} link @param {string} item @returns {number | null} Mbit/s */
  one(link, item) {
    const { row, side, plane } = this;
    const logName = `${row.row}/${item.replace(/[^a-z0-9.]/g, '-')}`;
    const [started] = startSides([{ row, side, more: toldRate(row, plane.data.link), logName, link }], plane);
    try {
      if ('failed' in started) {
        this.outcomes.push(started.failed);
        return null;
      }
      const way = new Way(plane, started.started, this.operation);
      const mbit = way.withFlows((far) => goodput(way, far, this.flow));
      this.outcomes.push(way.ended());
      return mbit;
    } finally {
      stopSides([started]);
    }
  }
}

/**
 * How each row ended, for the judge.
 * @param {import('../protocols/matrix.js').Row[]} rows
 * @param {import('../protocols/sides.js').Side} side
 */
export const outcomesOf = (rows, side) =>
  rows.map((row) => {
    const lack = row.engines[side.engine];
    /** @type {import('../protocols/outcome.js').Outcome} */
    const outcome =
      lack === true ? worst(said()[PREFIX + row.row] ?? []) : { outcome: 'impossible here', detail: lack };
    const all = Object.values(curveSaid(operationOf(row.row, side))).flat();
    return {
      row: row.row,
      multiplex: row.multiplex,
      told_mbit_per_s: null,
      baseline: {
        ...shown(withFault(row, side, older(row, outcome))),
        known: null,
        figures: { goodput_down_mbit: spreadOf(all) },
      },
      candidate: null,
      round_trips: null,
      turns: 1,
      comparison: [],
    };
  });
