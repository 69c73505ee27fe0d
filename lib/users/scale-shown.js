/** Results of the scenario `users/scale`: a table by number of users, and the growth of each figure in words. */
import { grouped, overTurns, sectionOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { sentenceOf, wholeTurns } from './by-level.js';
import { NEIGHBOURS } from './scale.js';

/** @typedef {import('./scale.js').Figures} Figures */

const KIB_PER_MIB = 1024;

/** Figures whose growth is stated. @type {import('./by-level.js').Stated<Figures>[]} */
const STATED = [
  {
    what: 'Memory',
    unit: 'KiB a user',
    factor: KIB_PER_MIB,
    of: (one) => one.own_mib,
  },
  { what: 'Start', unit: 'ms a 1,000 users', factor: 1000, of: (one) => one.start_ms },
  {
    what: 'First byte of the first user',
    unit: 'ms a 1,000 users',
    factor: 1000,
    of: (one) => one.connect_ms.first,
  },
  {
    what: 'First byte of the last user',
    unit: 'ms a 1,000 users',
    factor: 1000,
    lookup: true,
    of: (one) => one.connect_ms.last,
  },
  {
    what: 'Round trip of the last user',
    unit: 'ms a 1,000 users',
    factor: 1000,
    of: (one) => one.trip_ms.last,
  },
  {
    what: 'CPU of a new connection',
    unit: 'ms a 1,000 users',
    factor: 1000,
    of: (one) => one.cpu_ms,
  },
];

/** @param {Figures[]} all @param {number[]} levels the numbers of users, ascending */
export function scaleSection(all, levels) {
  if (all.length === 0) return null;
  const rows = levels.map((users) => ({ users, turns: all.filter((one) => one.users === users) }));
  const turns = wholeTurns(all, levels, ({ users }) => users);
  const fewest = rows[0];
  /** @param {string} name @param {string} title @param {string} unit @param {(one: Figures) => number | null} of @param {'lower' | 'higher'} [compare] @returns {import('../section.js').Column<typeof fewest>} */
  const column = (name, title, unit, of, compare = 'lower') => [
    name,
    title,
    unit,
    overTurns(of),
    { compare, ...(unit !== 'ms' && { digits: 1 }) },
  ];
  const memory = (/** @type {typeof fewest} */ row) =>
    spreadOf(row.turns.map((one) => one.own_mib))?.median ?? null;
  return sectionOf({
    name: 'scale',
    title: 'By number of users',
    columns: [
      ['users', 'Users', 'count'],
      column('start_ms', 'Start', 'ms', (one) => one.start_ms),
      column('own_mib', 'Own memory', 'MiB', (one) => one.own_mib),
      [
        'kib_each',
        'A user',
        'KiB',
        (row) => {
          const [now, before] = [memory(row), memory(fewest)];
          if (row === fewest || now === null || before === null) return null;
          return ((now - before) * KIB_PER_MIB) / (row.users - fewest.users);
        },
      ],
      column('first_ms', 'First byte, first user', 'ms', (one) => one.connect_ms.first),
      column('middle_ms', 'Middle', 'ms', (one) => one.connect_ms.middle),
      column('last_ms', 'Last', 'ms', (one) => one.connect_ms.last),
      column('trip_first_ms', 'Round trip, first user', 'ms', (one) => one.trip_ms.first),
      column('trip_middle_ms', 'Middle', 'ms', (one) => one.trip_ms.middle),
      column('trip_last_ms', 'Last', 'ms', (one) => one.trip_ms.last),
      column('cpu_ms', 'CPU a connection', 'ms', (one) => one.cpu_ms),
      column('mib_per_s', 'Speed', 'MiB/s', (one) => one.mib_per_s, 'higher'),
    ],
    rows,
    finding: STATED.map((stated) => sentenceOf(stated, turns, ({ users }) => users)).join(' '),
    answer: `${grouped(levels[levels.length - 1])} users`,
    notes: [
      `Median of the turns, with their range. Start: from the start of the program to the first byte of our far end. First byte: from the dial to the first byte of our far end. A user stands for ${NEIGHBOURS} neighbours in the list, each with its own key and connection. Speed: bytes of one user there and back. A growth is the median of the turns with their range. With fewer than six turns, or if the range includes both, the run cannot tell.`,
    ],
    plot: { kind: 'curves', x: 'users', y: ['first_ms', 'middle_ms', 'last_ms'], log: true },
  });
}
