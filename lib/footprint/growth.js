/**
 * Whether something grows with the work that was done: a slope with its interval, which one step does not change.
 *
 * An allocator takes memory in steps and then stops, and a garbage collector makes a saw-tooth. Both are no leak. So the lowest reading
 * of each block of cycles counts: the saw-tooth's teeth are above that reading. A two-phase fit then finds the largest step: two parallel lines, one
 * before and one after. A two-phase fit also gives the step's size, which a CUSUM does not. Two blocks on one side of
 * the step have a slope, and the median of all such slopes counts (Theil and Sen, Journal of the American Statistical Association 63, 1968).
 * The interval adds up the variance of Kendall's statistic of both sides (Hirsch, Slack and Smith, Water Resources Research 18, 1982).
 * A heap that falls slowly, or that wanders, has neighbours that are alike: fewer values than blocks. This effective number of values gives
 * the variance (Yue and Wang, Water Resources Management 18, 2004).
 */
import { median } from '../spread.js';

/** Standard deviations of the interval. The search for a step makes 2.576, which is 99 % without it, cover 90 % of simulated series only. */
const Z = 3.5;
/** Fewer blocks on one side of a step say nothing of its slope. */
const SIDE_LEAST = 3;
/** The widest interval, from the least to the largest slope, covers 94 % of simulated series of 6 blocks, and 99.3 % of 9. */
export const BLOCKS_LEAST = 9;
/** Neighbours that are more alike than this have the widest interval anyhow. */
const ALIKE_MOST = 0.95;

/**
 * @typedef {{ x: number, y: number }} Point `x` work done since the start, `y` what is held then
 * @typedef {object} Growth
 * @property {number} slope `y` for each `x`
 * @property {number} low of the slope's interval, 99 %
 * @property {number} high
 * @property {number} step what the largest step added, `y`
 */

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The lowest point of each block. @param {Point[]} points @param {number} size points of a block @returns {Point[]} */
function lowest(points, size) {
  const blocks = Array.from({ length: Math.floor(points.length / size) }, (_, index) =>
    points.slice(index * size, (index + 1) * size),
  );
  return blocks.map((block) => block.reduce((low, point) => (point.y < low.y ? point : low)));
}

/** Sums of squares of one side. @param {Point[]} side */
function spreadOf(side) {
  let [x, y] = [0, 0];
  for (const point of side) {
    x += point.x / side.length;
    y += point.y / side.length;
  }
  const sums = { xx: 0, xy: 0, yy: 0 };
  for (const point of side) {
    sums.xx += (point.x - x) ** 2;
    sums.xy += (point.x - x) * (point.y - y);
    sums.yy += (point.y - y) ** 2;
  }
  return sums;
}

/** The slopes between each two points. @param {Point[]} side */
function slopesOf(side) {
  const slopes = [];
  for (const [index, one] of side.entries())
    for (let at = index + 1; at < side.length; at++) slopes.push((side[at].y - one.y) / (side[at].x - one.x));
  return slopes;
}

/** Both sides of the step that leaves the least residuals of two parallel lines. @param {Point[]} points */
function sidesOf(points) {
  let best = { residual: Infinity, sides: /** @type {Point[][]} */ ([points]) };
  for (let at = SIDE_LEAST; at <= points.length - SIDE_LEAST; at++) {
    const sides = [points.slice(0, at), points.slice(at)];
    const [one, two] = sides.map(spreadOf);
    const residual = one.yy + two.yy - (one.xy + two.xy) ** 2 / (one.xx + two.xx);
    if (residual < best.residual) best = { residual, sides };
  }
  return best.sides;
}

/**
 * How much neighbours are alike, 0 to 1: the autocorrelation of what both lines leave. A fit of a line to few points hides a part, which
 * is added again (Tjøstheim and Paulsen, Biometrika 70, 1983).
 * @param {Point[][]} sides @param {number} slope
 */
function alike(sides, slope) {
  const left = sides.map((side) => {
    const above = side.map(({ x, y }) => y - slope * x);
    const middle = mean(above);
    return above.map((y) => y - middle);
  });
  const all = left.flat();
  const own = all.reduce((sum, one) => sum + one ** 2, 0);
  const next = left.flatMap((side) => side.slice(1).map((one, index) => one * side[index]));
  const found = own > 0 ? next.reduce((sum, one) => sum + one, 0) / own : 0;
  return Math.min(ALIKE_MOST, Math.max(0, found + (2 + 4 * found) / all.length));
}

/** Whether the lowest of the last values is lower than all before. @param {number[]} values in order @param {number} size of the last */
export const falls = (values, size) =>
  values.length > size && Math.min(...values.slice(-size)) < Math.min(...values.slice(0, -size));

/** @param {Point[]} points in order @param {number} size cycles of a block @returns {Growth | null} null: too few blocks */
export function growthOf(points, size) {
  const blocks = lowest(points, size);
  if (blocks.length < BLOCKS_LEAST) return null;
  const sides = sidesOf(blocks);
  const slopes = Float64Array.from(sides.flatMap(slopesOf)).sort();
  const slope = (slopes[(slopes.length - 1) >> 1] + slopes[slopes.length >> 1]) / 2;
  const variance = sides.reduce((sum, { length: n }) => sum + (n * (n - 1) * (2 * n + 5)) / 18, 0);
  const r = alike(sides, slope);
  const reach = Z * Math.sqrt((variance * (1 + r)) / (1 - r));
  const at = (/** @type {number} */ rank) =>
    slopes[Math.min(slopes.length - 1, Math.max(0, Math.round(rank)))];
  const [before, after] = sides.map((side) => median(side.map((point) => point.y - slope * point.x)));
  return {
    slope,
    low: at((slopes.length - reach) / 2 - 1),
    high: at((slopes.length + reach) / 2),
    step: after - before,
  };
}

/**
 * A program's own start-up grows too, and slows down only later. So a leak must also amount to more than the slack. A fall by more
 * than the bound says that the level was at no plateau, and can hide a leak.
 * @param {Growth | null} growth
 * @param {{ bound: number, slack: number, work: number }} of `slack` in all of the `work`
 * @returns {boolean | null} whether the growth is within the bound; null: cannot tell
 */
export function within(growth, { bound, slack, work }) {
  if (!growth) return null;
  if (growth.high <= bound) return growth.low >= -bound ? true : null;
  return growth.low > bound && growth.low * work > slack ? false : null;
}
