/** Draws graphs: lines, points or bars over time or another number. */
import { PALETTE, TITLE, scaleOf, shown, text, titleOf } from './svg.js';

/**
 * @typedef {import('./svg.js').Panel} Panel
 * @typedef {import('./svg.js').Box} Box
 *
 * @typedef {object} Line
 * @property {string} name
 * @property {string} unit
 * @property {boolean} dashed
 * @property {boolean} right on the right axis
 * @property {number} span gaps up to this are bridged
 * @property {number[]} xs
 * @property {(number | null)[]} ys
 *
 * @typedef {{ x: number, y: number }} Point in pixels
 */

const LEGEND_LINE = 15;
const MOST_IN_LEGEND = 8;
const MOST_LINES = 60;
const RIGHT = '#8a929b';
const SMALL = 'font-size="10" fill="#5a6b7b"';

/** @param {Line} line @param {number} index */
const colourOf = (line, index) => (line.right ? RIGHT : PALETTE[index % PALETTE.length]);

/** @param {number} value */
const short = (value) => value.toFixed(1);

/**
 * Points of a line, in pieces where it has gaps.
 * @param {Line} line
 * @param {(x: number) => number} xOf
 * @param {(y: number) => number | null} yOf null for what cannot be shown
 * @returns {Point[][]}
 */
function piecesOf({ xs, ys, span }, xOf, yOf) {
  /** @type {Point[][]} */
  const pieces = [];
  let last = -Infinity;
  let broken = true;
  xs.forEach((x, index) => {
    const value = ys[index];
    const y = value === null ? null : yOf(value);
    if (y === null) {
      broken = true;
      return;
    }
    if (broken && x - last > span) pieces.push([]);
    pieces.at(-1)?.push({ x: xOf(x), y });
    last = x;
    broken = false;
  });
  return pieces;
}

/** @param {Point[]} points @param {string} colour */
const dots = (points, colour) =>
  points.map(({ x, y }) => `<circle cx="${short(x)}" cy="${short(y)}" r="1.8" fill="${colour}"/>`).join('');

/** @param {Point[][]} pieces @param {string} colour @param {boolean} dashed */
const strokes = (pieces, colour, dashed) =>
  pieces
    .map((points) => {
      const path = points.map(({ x, y }) => `${short(x)},${short(y)}`).join(' ');
      const dash = dashed ? 'stroke-dasharray="5 4"' : '';
      return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.3" ${dash}/>`;
    })
    .join('') +
  dots(
    pieces.flat().length < 120 ? pieces.flat() : pieces.filter(({ length }) => length === 1).flat(),
    colour,
  );

/** @param {Point[]} points @param {string} colour @param {number} floor */
const columns = (points, colour, floor) =>
  points
    .map(
      ({ x, y }) =>
        `<rect x="${short(x - 2)}" y="${short(y)}" width="4" height="${short(floor - y)}" fill="${colour}" opacity=".6"/>`,
    )
    .join('');

/** @param {number} x1 @param {number} x2 @param {number} y1 @param {number} y2 @param {string} look */
const straight = (x1, x2, y1, y2, look) =>
  `<line x1="${short(x1)}" x2="${short(x2)}" y1="${short(y1)}" y2="${short(y2)}" ${look}/>`;

/**
 * @param {Panel} panel
 * @param {Line[]} lines
 * @param {Box} box
 * @param {{ marks?: number[], range: [number, number], axis: (x: number) => string }} extra
 */
export function graphOf(panel, lines, { w, h }, { marks = [], range: [from, to], axis }) {
  const rows = Math.ceil(Math.min(lines.length, MOST_IN_LEGEND) / 2);
  const plot = { x: 62, y: TITLE + 6, w: w - 76, h: h - TITLE - 30 - rows * LEGEND_LINE };
  const floor = plot.y + plot.h;
  const custom = /** @type {any} */ (panel.fieldConfig.defaults.custom ?? {});
  const log = custom.scaleDistribution?.type === 'log';
  const valuesOf = (/** @type {boolean} */ right) =>
    lines.filter((line) => line.right === right).flatMap(({ ys }) => ys.filter((y) => y !== null));
  const left = scaleOf(valuesOf(false), log);
  const right = scaleOf(valuesOf(true), false);
  const xOf = (/** @type {number} */ x) => plot.x + ((x - from) / (to - from || 1)) * plot.w;
  const drawn = lines.slice(0, MOST_LINES).map((line, index) => {
    const scale = line.right ? right : left;
    const pieces = piecesOf(line, xOf, (y) =>
      log && !line.right && y <= 0 ? null : plot.y + plot.h * (1 - Math.max(0, scale.at(y))),
    );
    const colour = colourOf(line, index);
    if (custom.drawStyle === 'bars') return columns(pieces.flat(), colour, floor);
    if (custom.drawStyle === 'points') return dots(pieces.flat(), colour);
    return strokes(pieces, colour, line.dashed || line.right);
  });
  const unit = panel.fieldConfig.defaults.unit ?? '';
  return [
    `<rect x="${plot.x}" y="${plot.y}" width="${plot.w}" height="${plot.h}" fill="#f6f7f9"/>`,
    ...marks
      .filter((mark) => mark >= from && mark <= to)
      .map((mark) =>
        straight(xOf(mark), xOf(mark), plot.y, floor, 'stroke="#8f3bb8" stroke-dasharray="2 3" opacity=".6"'),
      ),
    ...drawn,
    text(plot.x - 6, plot.y + 8, shown(left.high, unit), `${SMALL} text-anchor="end"`),
    text(plot.x - 6, floor, shown(left.low, unit), `${SMALL} text-anchor="end"`),
    lines.some((line) => line.right)
      ? text(
          plot.x + plot.w,
          plot.y - 1,
          `right: 0 to ${shown(right.high, '')}`,
          `${SMALL} text-anchor="end"`,
        )
      : '',
    text(plot.x, floor + 12, axis(from), SMALL),
    text(plot.x + plot.w, floor + 12, axis(to), `${SMALL} text-anchor="end"`),
    legendOf(panel, lines, w, floor + 28),
  ].join('');
}

/** @param {Panel} panel @param {Line[]} lines @param {number} w @param {number} y */
function legendOf(panel, lines, w, y) {
  const fit = Math.floor((w / 2 - 24) / 5.4);
  return lines
    .slice(0, MOST_IN_LEGEND)
    .map((line, index) => {
      const numbers = line.ys.filter((value) => value !== null);
      const left = lines.length - MOST_IN_LEGEND;
      const more = index === MOST_IN_LEGEND - 1 && left > 0 ? ` … and ${left} more` : '';
      const words = `${titleOf(panel, line.name)}  max ${shown(Math.max(...numbers), line.unit)}${more}`;
      const [x, top] = [12 + (index % 2) * (w / 2 - 6), y + Math.floor(index / 2) * LEGEND_LINE];
      const cut = words.length > fit ? `${words.slice(0, fit - 1)}…` : words;
      return `<rect x="${x}" y="${top - 6}" width="9" height="3" fill="${colourOf(line, index)}"/>${text(x + 13, top, cut, 'font-size="10"')}`;
    })
    .join('');
}
