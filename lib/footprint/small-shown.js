/** Results of the scenario `footprint/small`: a table of levels, and the fact that decides the verdict. */
import { overTurns, sectionOf } from '../section.js';
import { carries, smallestOf } from './small.js';

/**
 * @typedef {import('./small.js').Level} Level
 * @typedef {{ turns: number, load: import('./small.js').Load, most: number }} Planned `most` MiB that may be needed
 */

const WORDS = new Map([
  [true, 'yes'],
  [false, 'no'],
  [null, 'cannot tell'],
]);

/** If no level carries the load, a comparison takes this multiple of the largest level. */
const TOO_LITTLE = 2;

/** @param {Planned} planned @param {number | null} needs MiB that a comparison takes, null: unknown @returns {import('../section.js').Column<Level>[]} */
const columnsOf = (planned, needs) => [
  ['memory_mib', 'Memory', 'MiB', ({ mib }) => mib],
  ['carries', 'Carries the load', 'text', (level) => WORDS.get(carries(level, planned))],
  ['mbit_per_s', 'Throughput', 'Mbit/s', overTurns((turn) => turn.mbit_per_s)],
  [
    'tunnels',
    'Usable tunnels',
    'text',
    ({ turns }) =>
      turns.length > 0
        ? `${Math.min(...turns.map(({ tunnels }) => tunnels))} of ${planned.load.tunnels}`
        : null,
  ],
  [
    'killed',
    'Killed for memory',
    'count',
    ({ turns }) =>
      turns.every(({ killed }) => killed !== null)
        ? turns.reduce((sum, { killed }) => sum + Number(killed), 0)
        : null,
  ],
  ['peak_mib', 'Peak memory', 'MiB', overTurns((turn) => turn.peak_mib)],
  ['throttled', 'Throttled periods', 'share', overTurns((turn) => turn.throttled)],
  [
    'smallest',
    `smallest that carries the load, ${TOO_LITTLE} times the largest if there is none`,
    'MiB',
    () => needs,
    { print: 'none', compare: 'lower', judged: true, least: 1 },
  ],
];

/** @param {Level[]} levels @param {Planned} planned */
export function smallSection(levels, planned) {
  const smallest = smallestOf(levels, planned);
  const needs = smallest === false ? TOO_LITTLE * levels[levels.length - 1].mib : smallest;
  const { tunnels, mib, mbitPerS } = planned.load;
  const load = `${tunnels} tunnels with ${mib} MiB each, at ${mbitPerS} Mbit/s or more together`;
  return sectionOf({
    name: 'small',
    title: 'What it carries in how much memory',
    columns: columnsOf(planned, needs),
    rows: levels,
    headline: smallest
      ? { value: `${smallest} MiB`, of: 'is the smallest memory that carries the load', detail: load }
      : { value: smallest === null ? 'cannot tell' : 'no level', of: 'carries the load', detail: load },
    notes: [
      `The load: ${load}. A level carries it if each of its turns does, and the kernel kills no process for memory.`,
      'Medians of the turns, the least and the most in brackets. Usable tunnels: the fewest of a turn.',
      'The memory is that of the control group, mainly own memory: pages of a file, such as the program, count for the group that read them first. Version 1 of control groups counts no socket buffers.',
    ],
  });
}

/**
 * The run fails if the system needs more than the bound, by default the largest level. The need is unknown if the bound is above the levels
 * that are too small, and below the smallest level that carries the load.
 * @param {Level[]} levels @param {Planned} planned @returns {import('k6/x/windtunnel/judge').Fact[]}
 */
export function smallFacts(levels, planned) {
  const smallest = smallestOf(levels, planned);
  const tooSmall = levels.filter((level) => carries(level, planned) === false).map(({ mib }) => mib);
  const least = Math.max(0, ...tooSmall) + 1;
  const fits = smallest && smallest <= planned.most ? smallest : null;
  return [
    {
      check: 'memory that carries the load, MiB',
      source: 'processes',
      found: { said: least > planned.most ? smallest || least : fits },
      reported: { said: planned.most },
      slack: [],
    },
  ];
}
