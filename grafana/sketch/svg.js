/** Draws panels as SVG: plainly, so that nobody takes a sketch for Grafana. */
import { patternOf } from './transform.js';

/**
 * @typedef {import('./transform.js').Frame} Frame
 * @typedef {import('../types.js').Panel} Panel
 * @typedef {{ x: number, y: number, w: number, h: number }} Box
 */

export const PALETTE = [
  '#3871dc',
  '#56a64b',
  '#e0781a',
  '#8f3bb8',
  '#1f9aa8',
  '#b8860b',
  '#c4162a',
  '#5a6b7b',
];
const NAMED = /** @type {Record<string, string>} */ ({
  green: '#2e8b45',
  red: '#c4162a',
  orange: '#e0781a',
  blue: '#3871dc',
  gray: '#8a929b',
});
export const TITLE = 26;

/** @param {unknown} text */
export const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** @param {number} x @param {number} y @param {unknown} words @param {string} [more] attributes */
export const text = (x, y, words, more = '') => `<text x="${x}" y="${y}" ${more}>${escaped(words)}</text>`;

/** @param {number} value */
const digits = (value) =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));

/** @type {Record<string, (value: number) => string>} */
const UNITS = {
  ms: (value) => (Math.abs(value) >= 1000 ? `${digits(value / 1000)} s` : `${digits(value)} ms`),
  s: (value) => `${digits(value)} s`,
  percentunit: (value) => `${digits(value * 100)} %`,
  percent: (value) => `${digits(value)} %`,
  reqps: (value) => `${digits(value)} req/s`,
  cps: (value) => `${digits(value)} /s`,
  mps: (value) => `${digits(value)} msg/s`,
  Mbits: (value) => `${digits(value)} Mb/s`,
  bytes: (value) => `${digits(value / 2 ** 20)} MiB`,
};

/** @param {unknown} value @param {string} unit */
export const shown = (value, unit) =>
  typeof value === 'number' ? (UNITS[unit] ?? digits)(value) : value === null ? '' : String(value);

/** What overrides say of a column. @param {Panel} panel @param {string} name @returns {Record<string, any>} */
export function fieldOf(panel, name) {
  const { defaults, overrides } = panel.fieldConfig;
  const own = overrides.filter(({ matcher: { id, options } }) =>
    id === 'byRegexp' ? patternOf(options).test(name) : options === name,
  );
  return {
    unit: defaults.unit ?? '',
    mappings: defaults.mappings,
    ...Object.fromEntries(own.flatMap(({ properties }) => properties.map(({ id, value }) => [id, value]))),
  };
}

/** @param {any[] | undefined} mappings @param {unknown} value @returns {{ text?: string, color?: string } | undefined} */
const mapping = (mappings, value) => mappings?.[0]?.options[String(value)];

/** @param {Panel} panel @param {number} value */
function thresholdColour(panel, value) {
  const steps = panel.fieldConfig.defaults.thresholds?.steps ?? [];
  const step = steps.findLast((one) => one.value === null || one.value <= value);
  return NAMED[step?.color ?? ''] ?? NAMED.gray;
}

/** A panel's frame with its title. @param {Box} box @param {Panel} panel @param {string} inner */
export const framed = ({ x, y, w, h }, panel, inner) =>
  `<g transform="translate(${x},${y})"><rect width="${w}" height="${h}" rx="3" fill="#fff" stroke="#cfd4da"/>` +
  `${text(10, 18, panel.title, 'font-weight="600" font-size="13"')}${inner}</g>`;

/** @param {Panel} panel @param {Frame[]} frames @param {Box} box */
export function statOf(panel, frames, { w, h }) {
  const tiles = frames.map((frame) => ({
    name: frame.columns[1].name,
    value: frame.columns[1].values.at(-1),
  }));
  const columns = Math.min(tiles.length, Math.max(1, Math.floor(w / 110)));
  const [width, height] = [(w - 8) / columns, (h - TITLE - 6) / Math.ceil(tiles.length / columns)];
  return tiles
    .map(({ name, value }, index) => {
      const { unit, mappings } = fieldOf(panel, name);
      const found = mapping(mappings, value);
      const colour = NAMED[found?.color ?? ''] ?? thresholdColour(panel, value);
      const [x, y] = [4 + (index % columns) * width, TITLE + Math.floor(index / columns) * height];
      const words = found?.text ?? shown(value, unit);
      const big = tiles.length > 1 ? 13 : 26;
      const label = tiles.length > 1 ? text(x + 8, y + 13, name, 'fill="#fff" font-size="10"') : '';
      return (
        `<rect x="${x}" y="${y}" width="${width - 3}" height="${height - 3}" fill="${colour}"/>${label}` +
        text(x + 8, y + height / 2 + big / 2.2, words, `fill="#fff" font-size="${big}" font-weight="600"`)
      );
    })
    .join('');
}

/** @param {Panel} panel @param {Frame[]} frames @param {Box} box */
export function tableOf(panel, [frame], { w, h }) {
  const columns = frame.columns.filter(({ name }) => !fieldOf(panel, name)['custom.hidden']);
  const lines = Math.floor((h - TITLE - 22) / 17);
  const texts = columns.map(({ name, values }) => {
    const { unit, mappings } = fieldOf(panel, name);
    return values.map((value) => mapping(mappings, value)?.text ?? shown(cellTime(name, value), unit));
  });
  const wanted = texts.map((cells, index) =>
    Math.min(
      46,
      Math.max(
        titleOf(panel, columns[index].name).length,
        ...cells.slice(0, lines).map((cell) => cell.length),
      ),
    ),
  );
  const scale = (w - 20) / (wanted.reduce((sum, length) => sum + length + 2, 0) || 1);
  let x = 10;
  return columns
    .map(({ name, values }, index) => {
      const width = (wanted[index] + 2) * scale;
      const fit = Math.max(3, Math.floor(width / 6.1));
      const own = fieldOf(panel, name);
      const cells = texts[index].slice(0, lines).map((cell, row) => {
        const colour = own['custom.cellOptions'] && NAMED[mapping(own.mappings, values[row])?.color ?? ''];
        const cut = cell.length > fit ? `${cell.slice(0, fit - 1)}…` : cell;
        return text(
          x,
          TITLE + 36 + row * 17,
          cut,
          `font-size="11" ${colour ? `fill="${colour}" font-weight="600"` : ''}`,
        );
      });
      const head = text(
        x,
        TITLE + 17,
        titleOf(panel, name),
        'font-size="11" font-weight="600" fill="#3871dc"',
      );
      x += width;
      return head + cells.join('');
    })
    .join('');
}

/** @param {Panel} panel @param {string} name */
export const titleOf = (panel, name) => String(fieldOf(panel, name).displayName ?? name);

/** @param {string} name @param {unknown} value */
const cellTime = (name, value) =>
  /^(Time|began|ended)$/.test(name) && typeof value === 'number'
    ? new Date(value).toISOString().slice(0, 19).replace('T', ' ')
    : value;

/** @param {number[]} values @param {boolean} log */
export function scaleOf(values, log) {
  const positive = log ? values.filter((value) => value > 0) : [0, ...values];
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  const of = log ? Math.log10 : (/** @type {number} */ value) => value;
  const span = of(high) - of(low) || 1;
  return { low, high, at: (/** @type {number} */ value) => (of(value) - of(low)) / span };
}

/** @param {Panel} panel @param {Frame[]} frames @param {Box} box */
export function barsOf(panel, [frame], { w, h }) {
  const [names, ...series] = frame.columns;
  const plot = { x: 62, y: TITLE + 6, w: w - 76, h: h - TITLE - 90 };
  const all = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const custom = /** @type {any} */ (panel.fieldConfig.defaults.custom ?? {});
  const log = custom.scaleDistribution?.type === 'log';
  const { low, high, at } = scaleOf(all, log);
  const width = plot.w / (names.values.length * (series.length + 0.6) || 1);
  const zero = plot.y + plot.h * (log ? 1 : 1 - at(0));
  const unit = panel.fieldConfig.defaults.unit ?? '';
  const byThreshold = panel.fieldConfig.defaults.color?.mode === 'thresholds';
  const drawn = series.flatMap(({ values }, index) =>
    values.map((value, place) => {
      if (value === null) return '';
      const y = plot.y + plot.h * (1 - at(value));
      const colour = byThreshold ? thresholdColour(panel, value) : PALETTE[index];
      const x = plot.x + width * (place * (series.length + 0.6) + index + 0.3);
      return `<rect x="${x.toFixed(1)}" y="${Math.min(y, zero).toFixed(1)}" width="${(width * 0.9).toFixed(1)}" height="${Math.max(1, Math.abs(zero - y)).toFixed(1)}" fill="${colour}"/>`;
    }),
  );
  const small = 'font-size="10" fill="#5a6b7b"';
  const ticks = names.values.map((name, place) => {
    const x = plot.x + width * (series.length + 0.6) * (place + 0.5);
    return text(
      0,
      0,
      name,
      `${small} text-anchor="end" transform="translate(${x.toFixed(1)},${plot.y + plot.h + 12}) rotate(-30)"`,
    );
  });
  const legend = series.map(
    ({ name }, index) =>
      `<rect x="${12 + index * 130}" y="${h - 14}" width="9" height="3" fill="${PALETTE[index]}"/>${text(25 + index * 130, h - 8, name, 'font-size="10"')}`,
  );
  return (
    `<rect x="${plot.x}" y="${plot.y}" width="${plot.w}" height="${plot.h}" fill="#f6f7f9"/>${drawn.join('')}` +
    text(plot.x - 6, plot.y + 8, shown(high, unit), `${small} text-anchor="end"`) +
    text(plot.x - 6, plot.y + plot.h, shown(low, unit), `${small} text-anchor="end"`) +
    ticks.join('') +
    (byThreshold ? '' : legend.join(''))
  );
}

/** @param {Panel} panel @param {Frame[]} frames @param {Box} box @param {[number, number]} range */
export function heatmapOf(panel, frames, { w, h }, [from, to]) {
  const plot = { x: 62, y: TITLE + 6, w: w - 76, h: h - TITLE - 26 };
  const rows = frames
    .map(({ columns: [time, counts] }) => ({
      bound: Number(counts.name.replace('+Inf', 'Infinity')),
      time,
      counts,
    }))
    .toSorted((a, b) => a.bound - b.bound);
  const most = Math.max(...rows.flatMap(({ counts }) => counts.values));
  const height = plot.h / rows.length;
  const unit = panel.fieldConfig.defaults.unit ?? '';
  const step = rows[0] ? rows[0].time.values[1] - rows[0].time.values[0] : 1000;
  const width = (step / (to - from || 1)) * plot.w;
  const cells = rows.flatMap(({ time, counts }, row) =>
    counts.values.flatMap((count, index) => {
      if (!count) return [];
      const x = plot.x + ((time.values[index] - from) / (to - from || 1)) * plot.w;
      if (x < plot.x || x + width > plot.x + plot.w + 1) return [];
      const warmth = Math.sqrt(count / most);
      return [
        `<rect x="${x.toFixed(1)}" y="${(plot.y + plot.h - (row + 1) * height).toFixed(1)}" width="${Math.max(2, width - 1).toFixed(1)}" height="${(height - 1).toFixed(1)}" fill="hsl(${Math.round(225 - 215 * warmth)},75%,50%)"/>`,
      ];
    }),
  );
  const every = Math.ceil(rows.length / 8);
  const labels = rows.map(({ bound }, row) =>
    row % every === 0
      ? text(
          plot.x - 6,
          plot.y + plot.h - (row + 1) * height + 4,
          Number.isFinite(bound) ? shown(bound, unit) : '∞',
          'font-size="10" fill="#5a6b7b" text-anchor="end"',
        )
      : '',
  );
  return `<rect x="${plot.x}" y="${plot.y}" width="${plot.w}" height="${plot.h}" fill="#f6f7f9"/>${cells.join('')}${labels.join('')}`;
}
