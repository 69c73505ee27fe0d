/**
 * Draws a sketch of a board: its panels where its JSON puts them, with what its queries find in an InfluxDB. It shows
 * what a board is for where there is no Grafana; it is not what Grafana draws.
 * Usage: INFLUX=… INFLUX_USERNAME=… INFLUX_PASSWORD=… node grafana/sketch/draw.js BOARD PAGE.html [SCENARIO,…] [ROWS]
 */
import { writeFileSync } from 'node:fs';
import { committed } from '../generate.js';
import { asking, expanded, filled, hasData, resolve } from '../stand-in.js';
import { graphOf } from './graph.js';
import { barsOf, escaped, fieldOf, framed, heatmapOf, statOf, tableOf, text } from './svg.js';
import { transformed } from './transform.js';

/**
 * @typedef {import('../types.js').Board} Board
 * @typedef {import('../types.js').Panel} Panel
 * @typedef {import('../types.js').Target} Target
 * @typedef {import('../stand-in.js').Values} Values
 * @typedef {import('../stand-in.js').Time} Time
 * @typedef {import('../stand-in.js').Ask} Ask
 * @typedef {import('./transform.js').Frame} Frame
 * @typedef {import('./graph.js').Line} Line
 */

const WIDTH = 1560;
const CELL = { w: WIDTH / 24, h: 30 };
const GAP = 6;
const HEAD = 84;
/** Of rows that repeat, so many are drawn. */
const COPIES = 2;

/** As Grafana's data source makes frames of answers. @param {Target} target @param {import('../stand-in.js').Series[]} series @returns {Frame[]} */
function framesOf({ refId, resultFormat, alias = '' }, series) {
  if (resultFormat === 'table') {
    if (series.length === 0) return [];
    const tags = Object.keys(series[0].tags ?? {});
    const rows = series.flatMap(({ tags: own, values }) =>
      values.map((row) => [row[0], ...tags.map((tag) => own?.[tag]), ...row.slice(1)]),
    );
    const names = ['Time', ...tags, ...series[0].columns.slice(1)];
    return [{ refId, columns: names.map((name, at) => ({ name, values: rows.map((row) => row[at]) })) }];
  }
  return series.flatMap(({ name = '', tags = {}, columns, values }) =>
    columns.slice(1).map((column, at) => ({
      refId,
      columns: [
        { name: 'Time', values: values.map((row) => row[0]) },
        {
          name: alias.replace(
            /\$(\w+)/g,
            (whole, key) =>
              ({ m: name, col: column })[/** @type {'m'} */ (key)] ?? tags[key.replace(/^tag_/, '')] ?? whole,
          ),
          values: values.map((row) => row[at + 1]),
        },
      ],
    })),
  );
}

/** @param {Panel} panel @param {Frame[]} frames @param {string} x column @returns {Line[]} */
const linesOf = (panel, frames, x) =>
  frames.flatMap(({ columns }) => {
    const xs = columns.find(({ name }) => name === x)?.values ?? [];
    return columns
      .filter(({ name }) => name !== x)
      .map(({ name, values }) => {
        const field = fieldOf(panel, name);
        return {
          name,
          unit: field.unit,
          dashed: Boolean(field['custom.lineStyle']),
          right: field['custom.axisPlacement'] === 'right',
          span: spanOf(panel, field),
          xs,
          ys: values,
        };
      });
  });

/** @param {Panel} panel @param {Record<string, any>} field */
function spanOf(panel, field) {
  const { spanNulls } = /** @type {any} */ (panel.fieldConfig.defaults.custom ?? {});
  return Number(field['custom.spanNulls'] ?? spanNulls ?? 0);
}

/** @param {number} x */
const clock = (x) => new Date(x).toISOString().slice(11, 19);

/** @param {Panel} panel @param {Frame[]} frames @param {import('./svg.js').Box} box @param {{ time: Time, marks: number[] }} when */
function contentOf(panel, frames, box, { time, marks }) {
  const range = /** @type {[number, number]} */ ([time.from, time.to]);
  const found = transformed(frames, panel.transformations ?? []);
  if (found.length === 0)
    return text(12, 60, panel.fieldConfig.defaults.noValue ?? 'No data', 'fill="#8a929b"');
  switch (panel.type) {
    case 'stat':
      return statOf(panel, found, box);
    case 'table':
      return tableOf(panel, found, box);
    case 'barchart':
      return barsOf(panel, found, box);
    case 'heatmap':
      return heatmapOf(panel, found, box, range);
    case 'trend': {
      const lines = linesOf(panel, found, 'second');
      const last = Math.max(...lines.flatMap(({ xs }) => xs));
      return graphOf(panel, lines, box, { range: [0, last], axis: (x) => `second ${x}` });
    }
    default: {
      return graphOf(panel, linesOf(panel, found, 'Time'), box, { marks, range, axis: clock });
    }
  }
}

/**
 * Rows of a board, each with the copies of it that are drawn.
 * @param {Board} board
 * @param {Values} values
 */
function rowsOf(board, values) {
  const rows = /** @type {{ title: string, repeat?: string, panels: Panel[] }[]} */ ([]);
  for (const panel of board.panels) {
    if (panel.type === 'row')
      rows.push({ title: panel.title ?? '', repeat: panel.repeat, panels: [...panel.panels] });
    else rows.at(-1)?.panels.push(panel);
  }
  return rows.flatMap(({ title, repeat, panels }) => {
    if (!repeat) return [{ title, panels, values, more: '' }];
    const all = [values[repeat]].flat();
    return all.slice(0, COPIES).map((value, index) => ({
      title: title.replace(`$${repeat}`, value),
      panels,
      values: { ...values, [repeat]: value },
      more:
        index === COPIES - 1 && all.length > COPIES ? `… and ${all.length - COPIES} more rows like this` : '',
    }));
  });
}

/** When the run's events were. @param {Ask} ask @param {Values} values */
async function eventsOf(ask, values) {
  const series = await ask(
    filled('SELECT "title" FROM "events" WHERE "testid" = ${testid:singlequote}', values),
  );
  return series.flatMap((one) => one.values.map(([at]) => Number(at)));
}

/** @param {string} name @param {Ask} ask @param {Values} chosen @param {number} most rows */
async function sketch(name, ask, chosen, most) {
  /** @type {Board} */
  const board = JSON.parse(committed()[`${name}.json`]);
  const { values } = await resolve(board, ask, chosen);
  const marks = await eventsOf(ask, values);
  const when = await timeOf(ask, values, marks);
  let top = HEAD;
  const parts = [];
  for (const row of rowsOf(board, values).slice(0, most)) {
    parts.push(text(4, top + 20, `▾ ${row.title}   ${row.more}`, 'font-size="14" font-weight="600"'));
    top += 30;
    const first = Math.min(...row.panels.map(({ gridPos }) => gridPos?.y ?? 0));
    for (const panel of row.panels) {
      const { x, y, w, h } = panel.gridPos ?? { x: 0, y: 0, w: 24, h: 8 };
      const box = { x: x * CELL.w, y: top + (y - first) * CELL.h, w: w * CELL.w - GAP, h: h * CELL.h - GAP };
      const frames = [];
      for (const target of panel.targets) {
        const series = await ask(expanded(target.query, row.values, when.time));
        if (hasData(series)) frames.push(...framesOf(target, series));
      }
      parts.push(framed(box, panel, contentOf(panel, frames, box, when)));
    }
    top +=
      Math.max(...row.panels.map(({ gridPos }) => (gridPos ? gridPos.y - first + gridPos.h : 0))) * CELL.h;
  }
  return { height: top + 10, svg: headOf(board, values) + parts.join('') };
}

/** The chosen scenarios' time. @param {Ask} ask @param {Values} values @param {number[]} marks */
async function timeOf(ask, values, marks) {
  const where = '"testid" = ${testid:singlequote} AND "scenario" =~ /^${scenario:regex}$/';
  const vus = await ask(filled(`SELECT "value" FROM "vus" WHERE ${where}`, values));
  const times = vus.flatMap((one) => one.values.map(([at]) => Number(at)));
  const [from, to] = [Math.min(...times) - 2000, Math.max(...times) + 3000];
  return { time: { from, to, interval_s: Math.max(1, Math.ceil((to - from) / 600_000)) }, marks };
}

/** @param {Board} board @param {Values} values */
function headOf(board, values) {
  const chosen = Object.entries(values).map(([name, value]) => {
    const list = [value].flat();
    return `${name}: ${list.length > 3 ? `All (${list.length})` : list.join(', ')}`;
  });
  return (
    text(4, 26, board.title, 'font-size="20" font-weight="600"') +
    text(4, 48, chosen.join('     '), 'font-size="12" fill="#3b4652"') +
    `<rect x="0" y="57" width="${WIDTH - GAP}" height="20" fill="#fff3c9"/>` +
    text(
      8,
      71,
      `A sketch drawn from ${board.uid}'s JSON and what its queries found of a real run in InfluxDB. Not a screenshot of Grafana.`,
      'font-size="12"',
    )
  );
}

async function main() {
  const [name, page, scenarios, most] = process.argv.slice(2);
  const {
    INFLUX,
    INFLUX_USERNAME = 'windtunnel',
    INFLUX_PASSWORD = '',
    INFLUX_DATABASE = 'windtunnel',
  } = process.env;
  if (!INFLUX || !page)
    throw new Error('usage: INFLUX=… node grafana/sketch/draw.js BOARD PAGE.html [SCENARIO,…] [ROWS]');
  const ask = asking({
    url: INFLUX,
    username: INFLUX_USERNAME,
    password: INFLUX_PASSWORD,
    database: INFLUX_DATABASE,
  });
  /** @type {Values} */
  const chosen = scenarios && scenarios !== '-' ? { scenario: scenarios.split(',') } : {};
  const { height, svg } = await sketch(name, ask, chosen, Number(most ?? 99));
  const style = 'body{margin:0;padding:10px;background:#eef0f3;font-family:sans-serif}';
  writeFileSync(
    page,
    `<!doctype html><meta charset="utf-8"><title>${escaped(name)}</title><style>${style}</style>` +
      `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" fill="#1f2a36">${svg}</svg>\n`,
  );
  console.log(`${page}: ${WIDTH + 20}x${height + 20}`);
}

await main();
