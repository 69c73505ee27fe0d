/** Results of the scenario `footprint/start`: starts by number of rules with the growth of each figure, and reloads. */
import { grouped, overTurns, sectionOf } from '../section.js';
import { median } from '../spread.js';
import { PATIENCE_MS } from './reload.js';
import { sentenceOf, wholeTurns } from '../users/by-level.js';

/** @typedef {import('./start.js').Figures} Figures */
/** @typedef {import('./reload.js').Reload} Reload */
/** @typedef {{ rules: number, turns: Figures[] }} Row */
/** @typedef {{ rules: number, turns: Reload[] }} ReloadRow */

const BYTES_PER_MIB = 2 ** 20;
const THOUSAND = 1000;
/** Columns that a comparison judges, with the value that smaller ones count as. @type {Record<string, number>} */
const JUDGED = { start_ms: 1, cpu_s: 0.01, own_mib: 1, peak_mib: 1 };
/** Least that a comparison takes for the tunnels that a reload drops, and for the time without new connections, ms. */
const LEAST_DROPPED = 1;
const LEAST_REFUSED_MS = 10;

/** Figures whose growth is stated. @type {import('../users/by-level.js').Stated<Figures>[]} */
const STATED = [
  { what: 'Start', unit: 'ms a 1,000 rules', factor: THOUSAND, of: (one) => one.start_ms },
  { what: 'CPU of the start', unit: 'ms a 1,000 rules', factor: THOUSAND ** 2, of: (one) => one.cpu_s },
  { what: 'Own memory', unit: 'bytes a rule', factor: BYTES_PER_MIB, of: (one) => one.own_mib },
  { what: 'Peak of resident memory', unit: 'bytes a rule', factor: BYTES_PER_MIB, of: (one) => one.peak_mib },
  { what: 'Connect by address', unit: 'ms a 1,000 rules', factor: THOUSAND, of: (one) => one.connect_ms },
  { what: 'Connect by name', unit: 'ms a 1,000 rules', factor: THOUSAND, of: (one) => one.name_ms },
  { what: 'Round trip', unit: 'ms a 1,000 rules', factor: THOUSAND, of: (one) => one.trip_ms },
];

/** Names the rows of a comparison. @type {import('../section.js').Column<any>} */
const LEVEL = ['level', 'Level', 'text', ({ rules }) => `${grouped(rules)} rules`, { print: 'none' }];

/** @param {string} name @param {string} title @param {string} unit @param {(one: Figures) => number | null} of @param {number} [digits] @returns {import('../section.js').Column<Row>} */
const column = (name, title, unit, of, digits) => [
  name,
  title,
  unit,
  overTurns(of),
  {
    compare: 'lower',
    ...(name in JUDGED && { judged: true, least: JUDGED[name] }),
    ...(digits !== undefined && { digits }),
  },
];

/** @type {import('../section.js').Column<Row>[]} */
const COLUMNS = [
  LEVEL,
  ['rules', 'Rules', 'count'],
  column('listen_ms', 'Listens after', 'ms', (one) => one.listen_ms),
  column('start_ms', 'First byte after', 'ms', (one) => one.start_ms),
  column('cpu_s', 'CPU of the start', 's', (one) => one.cpu_s, 3),
  column('own_mib', 'Own memory', 'MiB', (one) => one.own_mib, 1),
  column('peak_mib', 'Peak of resident memory', 'MiB', (one) => one.peak_mib, 1),
  column('first_ms', 'First connection', 'ms', (one) => one.first_ms),
  column('connect_ms', 'Connect by address', 'ms', (one) => one.connect_ms),
  column('name_ms', 'By name', 'ms', (one) => one.name_ms),
  column('trip_ms', 'Round trip', 'ms', (one) => one.trip_ms),
];

/** Such as "32 × closed". @param {Reload[]} turns */
function endsOf(turns) {
  /** @type {Record<string, number>} */
  const all = {};
  for (const { ends } of turns)
    for (const [kind, count] of Object.entries(ends)) all[kind] = (all[kind] ?? 0) + count;
  return Object.entries(all)
    .map(([kind, count]) => `${grouped(count)} × ${kind}`)
    .join(', ');
}

/**
 * A column that only comparisons read.
 * @param {'dropped' | 'refused_ms'} name @param {string} title @param {string} unit @param {number} least
 * @returns {import('../section.js').Column<ReloadRow>}
 */
const judgedColumn = (name, title, unit, least) => [
  `judged_${name}`,
  title,
  unit,
  ({ turns }) => {
    const values = turns.map((turn) => turn[name]);
    return values.includes(null) ? null : median(/** @type {number[]} */ (values));
  },
  { print: 'none', compare: 'lower', judged: true, least },
];

/** @type {import('../section.js').Column<ReloadRow>[]} */
const RELOAD_COLUMNS = [
  LEVEL,
  ['rules', 'Rules', 'count'],
  ['reloads', 'Reloads', 'count', ({ turns }) => turns.length],
  ['tunnels', 'Tunnels of each', 'count', ({ turns }) => turns[0].tunnels],
  [
    'survived',
    'Survived',
    'count',
    overTurns(({ tunnels, dropped }) => (dropped === null ? null : tunnels - dropped)),
    { digits: 0 },
  ],
  ['dropped', 'Dropped', 'count', overTurns(({ dropped }) => dropped), { digits: 0, compare: 'lower' }],
  ['ends', 'Ends', 'text', ({ turns }) => endsOf(turns)],
  ['answer_ms', 'Slowest answer of a survivor', 'ms', overTurns(({ answer_ms }) => answer_ms)],
  [
    'refused_ms',
    'New connections fail for',
    'ms',
    overTurns(({ refused_ms }) => refused_ms),
    { compare: 'lower' },
  ],
  ['dial_ms', 'Slowest new connection', 'ms', overTurns(({ dial_ms }) => dial_ms)],
  judgedColumn('dropped', 'dropped', 'count', LEAST_DROPPED),
  judgedColumn('refused_ms', 'new connections fail for', 'ms', LEAST_REFUSED_MS),
];

/** @template {{ rules: number }} Figures @param {Figures[]} all @param {number[]} levels */
const rowsOf = (all, levels) =>
  levels
    .map((rules) => ({ rules, turns: all.filter((one) => one.rules === rules) }))
    .filter(({ turns }) => turns.length > 0);

const HOW = /** @type {Record<string, string>} */ ({ signal: 'SIGHUP', restart: 'A restart' });

/** @param {Reload[]} all */
function reloadFinding(all) {
  const tunnels = all.reduce((sum, one) => sum + one.tunnels, 0);
  const dropped = all.reduce((sum, one) => sum + (one.dropped ?? NaN), 0);
  const what = Number.isNaN(dropped)
    ? 'The tunnels could not be counted'
    : `${grouped(dropped)} of ${grouped(tunnels)} tunnels were dropped`;
  const lost = all.filter(({ refused_ms }) => refused_ms === null).length;
  return `${HOW[all[0].how]}: ${what}.${lost > 0 ? ` After ${lost} of ${all.length} reloads no new connection succeeded.` : ''}`;
}

/**
 * @param {{ starts: Figures[], reloads: Reload[] }} all @param {number[]} levels ascending
 * @param {number} paceMs between two new connections during a reload
 */
export function startSections({ starts, reloads }, levels, paceMs) {
  if (starts.length === 0) return [];
  const turns = wholeTurns(starts, levels, ({ rules }) => rules);
  const sections = [
    sectionOf({
      name: 'start',
      title: 'By number of rules',
      columns: COLUMNS,
      rows: rowsOf(starts, levels),
      finding: STATED.map((stated) => sentenceOf(stated, turns, ({ rules }) => rules)).join(' '),
      answer: `${grouped(levels[levels.length - 1])} rules`,
      notes: [
        'Median of the turns, with their range. All times of the start count from the start of the program, in steps of about 5 ms. A growth is the median of the turns with their range. With fewer than six turns, or if the range includes both, the run cannot tell.',
      ],
      plot: { kind: 'curves', x: 'rules', y: ['listen_ms', 'start_ms'] },
    }),
  ];
  if (reloads.length === 0) return sections;
  return [
    ...sections,
    sectionOf({
      name: 'reload',
      title: 'Reload under load',
      columns: RELOAD_COLUMNS,
      rows: rowsOf(reloads, levels),
      finding: reloadFinding(reloads),
      notes: [
        `New connections fail from the first failure to the start of the next success, in steps of ${paceMs} ms. A stalled tunnel stayed open, and carried nothing any more. An answer after ${PATIENCE_MS} ms counts as one of ${PATIENCE_MS} ms.`,
      ],
    }),
  ];
}
