/** The table of what rows cost to keep running: growth by connections, start, and the smallest memory. */
import { shown } from '../footprint/leak-shown.js';
import { rangeOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { LEVELS, LOAD, STARTS, TIMES, WORKS } from './costs.js';
import { JUDGED } from './footprint.js';
import { sideTable } from './side-table.js';

/** @typedef {import('./costs.js').Costs} Costs */
/** @typedef {import('./costs.js').Grown} Grown */
/** @typedef {import('../section.js').Cell} Cell */

/** Starts that differ by less harm nobody, ms. */
const START_LEAST_MS = 10;
const FIGURES = /** @type {const} */ ({
  growth: { title: 'growth per connection', unit: 'text' },
  leaks: { title: 'leaks', unit: 'text' },
  growth_worst: { title: 'growth in smallest leaks', unit: 'times', print: 'none', ...JUDGED, least: 1 },
  server_ms: { title: 'server listens after', unit: 'ms', compare: 'lower' },
  client_ms: { title: 'client listens after', unit: 'ms', compare: 'lower' },
  first_ms: { title: 'first byte after', unit: 'ms', ...JUDGED, least: START_LEAST_MS },
  smallest_mib: { title: 'smallest memory', unit: 'MiB', digits: 0, ...JUDGED, least: 1 },
});

/** Resources that grow beyond their bounds (false), or may do so (null). @param {Grown[]} all @param {boolean | null} found */
const grownOf = (all, found) =>
  all
    .filter(({ within }) => within === found)
    .map(({ title, growth, unit }) =>
      `${title} ${found === null || !growth ? '' : `${shown(growth.slope)} ${unit}`}`.trim(),
    )
    .join(', ');

/** Cells of what grows; memory is the first. @type {Record<string, (all: Grown[]) => Cell>} */
const OF_GROWTH = {
  growth: ([{ growth, unit }]) =>
    growth && `${shown(growth.slope)} ${unit} (${shown(growth.low)} to ${shown(growth.high)})`,
  leaks(all) {
    const [leaks, unclear] = [grownOf(all, false), grownOf(all, null)];
    if (leaks) return `yes: ${leaks}`;
    return unclear ? `cannot tell: ${unclear}` : 'no';
  },
  growth_worst: (all) =>
    all.some(({ growth }) => !growth)
      ? null
      : Math.max(...all.map(({ growth, least }) => (growth?.slope ?? NaN) / least)),
};

/** @param {Costs['starts']} starts @param {keyof import('./costs.js').Start} figure @returns {Cell} */
function startCell(starts, figure) {
  if (typeof starts === 'string') return starts;
  const all = starts.map((start) => start[figure]);
  return all.every((one) => one === undefined)
    ? 'no server'
    : rangeOf(spreadOf(all.map((one) => one ?? null)));
}

/** A text in place of figures stays. @param {Costs} costs @param {string} figure @returns {Cell} */
function cellOf({ growth, starts, smallest }, figure) {
  if (figure in OF_GROWTH) return typeof growth === 'string' ? growth : OF_GROWTH[figure](growth);
  if (figure !== 'smallest_mib')
    return startCell(starts, /** @type {keyof import('./costs.js').Start} */ (figure));
  return smallest === false ? `more than ${LEVELS.at(-1)}` : (smallest ?? 'cannot tell');
}

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
      figures: FIGURES,
      of(row, side, figure) {
        const costs = notes[row.row]?.[side]?.costs;
        return costs ? cellOf(costs, figure) : /** @type {Cell} */ (row[side]?.outcome ?? null);
      },
      notes: [
        `Both ends of a row together, in new processes. Growth is that of own memory over ${TIMES.cycles} cycles of ${WORKS[0].each} connections, with its interval; leaks are those of footprint/leak.`,
        `Medians of ${STARTS} starts. The server starts first. The first byte of the far end counts from the start of the client.`,
        `Smallest memory: the least of ${LEVELS.join(', ')} MiB that carries ${LOAD.tunnels} tunnels with ${LOAD.mib} MiB each, at ${LOAD.mbitPerS} Mbit/s or more. Each has one turn.`,
      ],
    }),
  ];
}
