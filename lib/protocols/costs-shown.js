/** The table of what rows cost to keep running: growth by connections, start, and the smallest memory. */
import { shown } from '../footprint/leak-shown.js';
import { rangeOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { LEVELS, LOAD, STARTS, TIMES, WORKS } from './costs.js';
import { JUDGED } from './footprint.js';
import { sideTable } from './side-table.js';

/**
 * @typedef {import('./costs.js').Costs} Costs
 * @typedef {import('./costs.js').Grown} Grown
 * @typedef {import('../section.js').Cell} Cell
 */

/** @param {Grown[]} all */
function growthCell([memory]) {
  const { growth, unit } = memory;
  return growth && `${shown(growth.slope)} ${unit} (${shown(growth.low)} to ${shown(growth.high)})`;
}

/** What grows beyond its bound, or may do so. @param {Grown[]} all */
function leaksCell(all) {
  const said = (/** @type {boolean | null} */ found) =>
    all
      .filter(({ within }) => within === found)
      .map(({ title, growth, unit }) =>
        found === null ? title : `${title} ${shown(growth?.slope ?? NaN)} ${unit}`.trim(),
      )
      .join(', ');
  if (said(false)) return `yes: ${said(false)}`;
  return said(null) ? `cannot tell: ${said(null)}` : 'no';
}

/** The largest growth of all resources. @param {Grown[]} all */
function worstCell(all) {
  const grown = all.map(({ growth, least }) => growth && growth.slope / least);
  return grown.includes(null) ? null : Math.max(.../** @type {number[]} */ (grown));
}

/** @param {Costs['smallest']} smallest */
const smallestCell = (smallest) => {
  if (smallest === null) return 'cannot tell';
  return smallest === false ? `more than ${LEVELS.at(-1)}` : smallest;
};

/** Cells of figures; a text in place of a figure stays. @param {(all: Grown[]) => Cell} of @returns {(costs: Costs) => Cell} */
const ofGrowth =
  (of) =>
  ({ growth }) =>
    typeof growth === 'string' ? growth : of(growth);

/** @param {keyof import('./costs.js').Start} name @returns {(costs: Costs) => Cell} */
const ofStarts =
  (name) =>
  ({ starts }) =>
    typeof starts === 'string' ? starts : rangeOf(spreadOf(starts.map((start) => start[name])));

/** Starts that differ by less harm nobody, ms. */
const START_LEAST_MS = 10;

/** @type {Record<string, import('./side-table.js').Table['figures'][string] & { cell: (costs: Costs) => Cell }>} */
const FIGURES = {
  growth: { title: 'growth per connection', unit: 'text', cell: ofGrowth(growthCell) },
  leaks: { title: 'leaks', unit: 'text', cell: ofGrowth(leaksCell) },
  growth_worst: {
    title: 'growth in smallest leaks',
    unit: 'times',
    print: 'none',
    ...JUDGED,
    least: 1,
    cell: ofGrowth(worstCell),
  },
  server_ms: { title: 'server listens after', unit: 'ms', compare: 'lower', cell: ofStarts('server_ms') },
  client_ms: { title: 'client listens after', unit: 'ms', compare: 'lower', cell: ofStarts('client_ms') },
  first_ms: {
    title: 'first byte after',
    unit: 'ms',
    ...JUDGED,
    least: START_LEAST_MS,
    cell: ofStarts('first_ms'),
  },
  smallest_mib: {
    title: 'smallest memory',
    unit: 'MiB',
    digits: 0,
    ...JUDGED,
    least: 1,
    cell: ({ smallest }) => smallestCell(smallest),
  },
};

const [{ each }] = WORKS;
const figures = Object.fromEntries(
  Object.entries(FIGURES).map(([name, { cell: _cell, ...about }]) => [name, about]),
);

/**
 * A table for all sides, if the run measured it.
 * @param {import('./result.js').Found} found @param {import('./result.js').AllNotes} notes
 */
export function costsSections(found, notes) {
  if (!Object.values(notes).some((sides) => Object.values(sides).some(({ costs }) => costs))) return [];
  return [
    sideTable(found, {
      name: 'costs',
      title: 'Growth, start and smallest memory',
      figures,
      of(row, side, figure) {
        const costs = notes[row.row]?.[side]?.costs;
        return costs ? FIGURES[figure].cell(costs) : /** @type {Cell} */ (row[side]?.outcome ?? null);
      },
      notes: [
        `Both ends of a row together, in new processes. Growth is that of own memory over ${TIMES.cycles} cycles of ${each} connections, with its interval; leaks are those of footprint/leak.`,
        `Medians of ${STARTS} starts. The server starts first. The first byte of the far end counts from the start of the client.`,
        `Smallest memory: the least of ${LEVELS.join(', ')} MiB that carries ${LOAD.tunnels} tunnels with ${LOAD.mib} MiB each, at ${LOAD.mbitPerS} Mbit/s or more. Each has one turn.`,
      ],
    }),
  ];
}
