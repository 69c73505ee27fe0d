/** Throughput of ways at each point: a table and a chart per axis, with the theoretical value for reno. */
import { listsOf, noteBy } from '../notes.js';
import { rangeOf, sectionOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { itemOf } from './points.js';
import { mathisMbit } from './theory.js';

/**
 * @typedef {import('./points.js').Point} Point
 * @typedef {{ name: string, title: string, control?: boolean }} Curve
 * @typedef {Record<string, (number | null)[]>} Measured Mbit/s by point, one number per round; null: not measured
 * @typedef {{ rtt_ms: number, loss: number, mbit: number | null }} Path requested settings of the link; mbit is the rate, null: unlimited
 */

/** Prefix of the names of these notes. No row has it. */
const PREFIX = '-curve ';

/** @param {string} name of the curve @param {Point} point @param {number | null} mbit */
export const keepPoint = (name, point, mbit) => noteBy(PREFIX + name, itemOf(point), mbit);

/** In handleSummary. @param {string} name of the curve @returns {Measured} */
export const curveSaid = (name) => listsOf(PREFIX + name);

const AXES = {
  loss: { title: 'Goodput by loss', column: 'Lost', unit: 'share' },
  rtt: { title: 'Goodput by round trip', column: 'RTT of the link', unit: 'ms' },
};

/** Theoretical throughput of reno at a point, limited by the line's rate. @param {Path} path @param {Point} point */
function theoryOf({ rtt_ms: rtt, loss, mbit }, { axis, value }) {
  const of = { rtt_ms: axis === 'rtt' ? value : rtt, loss: axis === 'loss' ? value : loss };
  const most = Math.min(mathisMbit(of), mbit ?? Infinity);
  return Number.isFinite(most) ? most : null;
}

/**
 * The fastest and the slowest row where most is lost, by medians; empty if no row was measured there.
 * @param {Curve[]} curves @param {Point[]} points on the axis of loss
 */
function fastest(curves, points) {
  const worst = points.toSorted((a, b) => a.value - b.value).at(-1);
  if (!worst) return {};
  const found = curves.flatMap(({ name, title, control }) => {
    const median = control ? null : spreadOf(curveSaid(name)[itemOf(worst)] ?? [])?.median;
    return median ? [{ title, median }] : [];
  });
  const ordered = found.sort((a, b) => b.median - a.median);
  const [[best], slowest] = [ordered, ordered.at(-1)];
  if (!best || !slowest) return {};
  const rate = (/** @type {number} */ mbit) => `${mbit.toPrecision(3)} Mbit/s`;
  return {
    headline: {
      value: rate(best.median),
      of: `${best.title}, the fastest row at ${Number((worst.value * 100).toPrecision(3))} % lost`,
      detail: best === slowest ? '' : `the slowest: ${slowest.title}, ${rate(slowest.median)}`,
    },
  };
}

/**
 * @param {'loss' | 'rtt'} axis
 * @param {Curve[]} curves
 * @param {Point[]} points
 * @param {Path} path
 */
export function curveSection(axis, curves, points, path) {
  const { title, column, unit } = AXES[axis];
  const axisPoints = points.filter((point) => point.axis === axis);
  const of = Object.fromEntries(curves.map(({ name }) => [name, curveSaid(name)]));
  const kept = axis === 'loss' ? `a round trip of ${path.rtt_ms} ms` : `${path.loss * 100} % lost`;
  return sectionOf({
    name: `goodput_${axis}`,
    title,
    ...(axis === 'loss' ? fastest(curves, axisPoints) : {}),
    columns: [
      { name: 'at', title: column, unit, ...(axis === 'rtt' ? { digits: 0 } : {}), of: ({ value }) => value },
      ...curves.map(({ name, title: of_ }) => ({
        name,
        title: of_,
        unit: 'Mbit/s',
        digits: 2,
        compare: /** @type {const} */ ('higher'),
        of: (/** @type {Point} */ point) => rangeOf(spreadOf(of[name][itemOf(point)] ?? [])),
      })),
      ['mathis', 'Mathis, reno', 'Mbit/s', (point) => theoryOf(path, point), { digits: 2 }],
    ],
    rows: axisPoints,
    notes: [
      `Payload downwards through one saturated tunnel, after its warm-up, at ${kept}: medians of the rounds, with the smallest and largest value in brackets (whiskers in the chart). Each figure comes from newly started processes, and each round has another seed of the link.`,
      'Mathis, reno: theoretical rate of one reno connection, MSS/RTT · √(3/2)/√p, at most the rate of the line.',
    ],
    plot: { kind: 'curves', x: 'at', y: [...curves.map(({ name }) => name), 'mathis'] },
  });
}
