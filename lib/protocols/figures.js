/** The table of one side's rows: how each ended, and its figures. */
import { grouped, rangeOf, sectionOf } from '../section.js';
import { programTitle } from './programs.js';

/**
 * @typedef {import('./result.js').Found} Found
 * @typedef {import('./result.js').SideResult} SideResult
 * @typedef {Found['rows'][number]} FoundRow
 * @typedef {{ row: FoundRow, result: SideResult }} Sided a row with one of its sides
 */

const SIDES = /** @type {const} */ ({ baseline: 'Baseline', candidate: 'Candidate' });

/** Columns of the table: medians of the turns. */
const FIGURES = {
  handshake_ms: { title: 'First reply', unit: 'ms', digits: 3 },
  rtt_ms: { title: 'RTT', unit: 'ms', digits: 3 },
  mbit_1k: { title: '1 KiB', unit: 'Mbit/s' },
  mbit_64k: { title: '64 KiB', unit: 'Mbit/s' },
  mbit_1m: { title: '1 MiB', unit: 'Mbit/s' },
  mbit_64k_up: { title: 'Up, 64 KiB', unit: 'Mbit/s' },
  udp_rtt_ms: { title: 'UDP RTT', unit: 'ms', digits: 3 },
  udp_lost_share: { title: 'UDP lost', unit: 'share' },
  cpu_s_per_gib: { title: 'CPU', unit: 's/GiB', digits: 2 },
  turn_cpu_s: { title: 'CPU of the turn', unit: 's', digits: 3 },
  parts_cpu_s: { title: 'of it in measured parts', unit: 's', digits: 3 },
  quiet_cpu_s: { title: 'of it in the quiet period', unit: 's', digits: 3 },
  rest_cpu_percent: { title: 'CPU at rest', unit: '%', digits: 1 },
  peak_anon_mib: { title: 'Peak own memory', unit: 'MiB', digits: 1 },
  peak_rss_mib: { title: 'Peak RSS', unit: 'MiB', digits: 1 },
};

/** From this number on, tunnels are opened in only half of the extra turns (scripts/protocols/matrix.js). */
export const MANY_TUNNELS = 500;

/** Names of all figures of both sides. @param {Found} found */
function namesIn({ rows }) {
  const sides = rows.flatMap(({ baseline, candidate }) => [baseline, ...(candidate ? [candidate] : [])]);
  return [...new Set(sides.flatMap(({ figures }) => Object.keys(figures)))];
}

const TUNNELS = /^tunnels_(\d+)_p95_ms$/;

/** Numbers of tunnels that were open at once, in ascending order. @param {string[]} names of figures */
const tunnelCounts = (names) =>
  names.flatMap((name) => Number(TUNNELS.exec(name)?.[1]) || []).sort((a, b) => a - b);

/** The largest number of tunnels that were open at once; 0 without tunnels. @param {Found} found */
export const mostTunnels = (found) => tunnelCounts(namesIn(found)).at(-1) ?? 0;

/** Columns for the numbers of tunnels. Memory is shown for the largest number. @param {number[]} counts */
const ofTunnels = (counts) => ({
  ...Object.fromEntries(
    counts.map((count) => [
      `tunnels_${count}_p95_ms`,
      { title: `${grouped(count)} tunnels P95`, unit: 'ms', digits: 2 },
    ]),
  ),
  [`tunnels_${counts.at(-1)}_anon_mib`]: {
    title: `Own memory, ${grouped(counts.at(-1) ?? 0)} tunnels`,
    unit: 'MiB',
    digits: 1,
  },
});

/** Columns of measured figures, then hidden columns of other figures, whose names end in the unit. @param {Found} found */
function columnsOf(found) {
  const names = namesIn(found);
  /** @type {Record<string, { title: string, unit: string, digits?: number }>} */
  const titled = { ...FIGURES, ...ofTunnels(tunnelCounts(names)) };
  const beside = names.filter((name) => !(name in titled)).sort();
  const ofFigure = (/** @type {string} */ name) => ({
    name,
    ...(titled[name] ?? { title: name, unit: name.replace(/^.*_/, '') }),
    print: name in titled ? /** @type {const} */ ('value') : /** @type {const} */ ('none'),
    of: (/** @type {Sided} */ { result }) => rangeOf(result.figures[name]),
  });
  /** @type {import('../section.js').Column<Sided>[]} */
  const columns = [
    ['row', 'Protocol', 'text', ({ row }) => row.row],
    ['outcome', 'Outcome', 'text', ({ result }) => result.outcome],
    ...[...Object.keys(titled).filter((name) => names.includes(name)), ...beside].map(ofFigure),
    ['detail', 'Detail', 'text', ({ result }) => result.detail, { print: 'none' }],
    ['known', 'Known fault', 'text', ({ result }) => result.known, { print: 'none' }],
  ];
  return columns;
}

/** Whether probe and far end may have limited a side's transfers. @param {Found} found @param {SideResult} side */
export const mayBound = ({ measuring_bound_cpus: bound }, { figures }) =>
  (figures.measuring_cpus?.median ?? 0) >= bound;

/** @param {Found} found @param {'baseline' | 'candidate'} side */
export function sideSection(found, side) {
  const rows = found.rows.flatMap((row) => {
    const result = row[side];
    return result ? [{ row, result }] : [];
  });
  const program = /** @type {import('./programs.js').Ran} */ (found[side]);
  return sectionOf({
    name: side,
    title: `${SIDES[side]}: ${programTitle(program)}`,
    columns: columnsOf(found),
    rows,
    headline: side === 'baseline' && glanceOf(found),
    notes: [
      ...rows.flatMap(notesOf),
      aboutFigures(found),
      ...aboutProgram(program),
      ...aboutBounds(found, rows),
    ],
  });
}

/** How many rows were measured on all sides. @param {Found} found */
function glanceOf({ rows }) {
  const whole = rows.filter(({ baseline, candidate }) =>
    [baseline, candidate].every((side) => !side || side.outcome === 'measured'),
  );
  return { value: `${whole.length} of ${rows.length}`, of: 'rows measured' };
}

/** @param {Sided} sided */
const notesOf = ({ row: { row }, result: { outcome, detail, known } }) => [
  detail !== null && `${row}: ${outcome}: ${detail}.`,
  outcome === 'errors' && known !== null && `${row}: known: ${known}.`,
];

/** @param {Found} found */
function aboutFigures(found) {
  const { turns, extra_turns: extra, rows } = found;
  const further = rows.filter((row) => row.turns > turns).map((row) => `${row.row} (${row.turns})`);
  const more =
    further.length > 0
      ? `, and further ones for the rows that these did not decide: ${further.join(', ')}`
      : '';
  const most = mostTunnels(found);
  const fewer = most >= MANY_TUNNELS ? ` (${MANY_TUNNELS} tunnels or more in ${Math.ceil(extra / 2)})` : '';
  const others =
    extra > 0
      ? `${most > 0 ? 'Tunnels, datagrams' : 'No tunnels are opened; datagrams'}, uploads, 1 KiB and 1 MiB are measured in ${extra} turns${fewer}, enough to show factors, but not percentages`
      : 'Tunnels, datagrams, uploads, 1 KiB and 1 MiB are not measured in this profile';
  return `Medians of ${turns} turns${more}. Each turn has newly started processes. First reply is from dialling the client until 64 bytes are back; throughput is of downloads in writes of that size, or of uploads; tunnels are all open at once. ${others}. Writes of 1 KiB are limited by the sender's system calls. CPU of the turn is all CPU time from the first probe to the end of the quiet period after the last one, without the probes for many tunnels. CPU and memory are of all clients and servers of a row together, with one open tunnel unless the column says otherwise. Own memory is resident memory without pages of files, whose number depends on the kernel's page cache.`;
}

/** @param {import('./programs.js').Ran} program */
const aboutProgram = ({ sha256, ran = [] }) => [
  sha256 && `SHA-256 of the program: ${sha256}.`,
  ...ran
    .filter((other) => other.sha256 !== sha256)
    .map(
      (other) => `A different program ran, in addition or instead: ${other.file}, SHA-256 ${other.sha256}.`,
    ),
];

/** @param {Found} found @param {Sided[]} rows */
function aboutBounds(found, rows) {
  const bound = rows
    .filter(({ result }) => mayBound(found, result))
    .map(({ row, result }) => `${row.row} (${result.figures.measuring_cpus?.median.toFixed(2)})`);
  const paced = rows.flatMap(({ row: { row, told_mbit_per_s: rate } }) =>
    rate === null ? [] : [`${row} (${rate.toFixed(0)} Mbit/s)`],
  );
  return [
    bound.length > 0 &&
      `Probe and far end, a thread each, used ${found.measuring_bound_cpus.toFixed(1)} CPUs or more in writes of 64 KiB: ${bound.join(', ')}. In these rows they may limit the throughput, in particular if both share a CPU, and differences between programs look smaller than they are: compare CPU.`,
    paced.length > 0 &&
      `A fixed sending rate limits the throughput of: ${paced.join(', ')}. Compare CPU instead.`,
  ];
}
