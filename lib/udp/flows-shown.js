/** Results of the scenario `udp/flows`: the associations at each level, and the quality of the call. */
import { controlName } from '../dataplane/scenario.js';
import { grouped, sectionOf } from '../section.js';
import { levelNames, triedFlows } from './flows.js';

/** @typedef {import('./flows.js').Tried} Tried */
/** @typedef {import('./flows.js').Seen} Seen */
/** @typedef {Seen & { path: 'proxied' | 'direct' }} Row */

const KIB = 1024;
const PATHS = /** @type {const} */ (['proxied', 'direct']);
const TITLES = { proxied: 'Through the proxy', direct: 'Direct' };

/** Such as "5 in a row × 3". @param {Record<string, number>} bursts number of runs by length */
const burstsOf = (bursts) =>
  Object.entries(bursts)
    .sort(([a], [b]) => Number(b) - Number(a))
    .map(([length, count]) => `${length} in a row × ${grouped(count)}`)
    .join(', ');

/** @param {Record<string, number>} errors by kind */
const kindsOf = (errors) =>
  Object.entries(errors)
    .map(([kind, count]) => `${grouped(count)} × ${kind}`)
    .join(', ');

/** @param {Seen} seen @returns {number | null} ms; null: none */
const longestGap = ({ associations: { gaps } }) =>
  gaps?.length ? Math.max(...gaps.map(({ ms }) => ms)) : null;

/** @param {Seen} seen */
const longestBurst = ({ associations: { loss_bursts: bursts } }) =>
  Math.max(0, ...Object.keys(bursts).map(Number));

/**
 * Growth of a peak from one association to all. A process may use memory again that an earlier level left.
 * @param {Seen | undefined} one @param {Row} all @param {'peakBytes' | 'openFiles'} peak @returns {number | null}
 */
function each(one, all, peak) {
  const [first, last, more] = [one?.[peak], all[peak], all.associations.opened - 1];
  if (!first || !last || more < 1 || all.path === 'direct') return null;
  return Math.max(0, (last - first) / more);
}

/** Columns of what became of the datagrams. @type {import('../section.js').Column<Row>[]} */
const FATE = [
  ['sent', 'Datagrams', 'count'],
  ['lost', 'Lost', 'count', { compare: 'lower' }],
  ['lost_up', 'On the way out', 'count', ({ lostUp }) => lostUp],
  ['lost_down', 'On the way back', 'count', ({ lostDown }) => lostDown],
  ['bursts', 'Losses', 'text', (row) => burstsOf(row.associations.loss_bursts)],
  ['longest_burst', 'Longest loss', 'count', longestBurst, { print: 'none' }],
  ['reordered', 'Reordered', 'count'],
  ['duplicated', 'Duplicated', 'count'],
];

/** @param {Seen[]} rows */
function staleNote(rows) {
  const stale = rows.reduce((sum, { associations }) => sum + associations.stale, 0);
  return (
    stale > 0 &&
    `${grouped(stale)} answers were for earlier associations, at ports that were in use again: their tag tells this, and they count nowhere.`
  );
}

/** @param {Tried[]} levels */
function associationsOf(levels) {
  const one = levels.find(({ level }) => level === 1)?.proxied;
  const rows = levels.flatMap(({ level, ...of }) =>
    PATHS.map((path) => ({ level: Number(level), path, ...of[path] })),
  );
  /** @param {typeof rows[number]} row @param {'p50_ms' | 'p95_ms'} figure */
  const first = ({ level, path }, figure) => {
    const [, operation] = levelNames(level);
    return { operation: path === 'direct' ? controlName(operation) : operation, figure };
  };
  return sectionOf({
    name: 'associations',
    title: 'UDP associations at once',
    columns: [
      ['path', 'Path', 'text', ({ path }) => TITLES[path]],
      ['asked', 'Asked', 'count', (row) => row.associations.asked],
      ['opened', 'Opened', 'count', (row) => row.associations.opened],
      ['carried', 'Carried', 'count', (row) => row.associations.carried, { compare: 'higher' }],
      ['errors', 'Not, or ended', 'text', (row) => kindsOf(row.associations.errors)],
      ['open_all_s', 'All within', 's', (row) => row.associations.open_all_s, { digits: 3 }],
      ['first_p50_ms', 'First trip P50', 'ms', (row) => first(row, 'p50_ms')],
      ['first_p95_ms', 'P95', 'ms', (row) => first(row, 'p95_ms')],
      ...FATE,
      ['misdelivered', 'To another', 'count', (row) => row.associations.misdelivered],
      ['stale', 'Stale', 'count', (row) => row.associations.stale, { print: 'none' }],
      [
        'kib_each',
        'Memory each',
        'KiB',
        (row) => {
          const bytes = each(one, row, 'peakBytes');
          return bytes && bytes / KIB;
        },
      ],
      ['files_each', 'Descriptors each', 'count', (row) => each(one, row, 'openFiles'), { digits: 1 }],
    ],
    rows,
    notes: [
      'Carried: bytes came to our far end and back. Each association has its own address at the far end (ADDRESS=ipv4). First trip: from the first datagram of an association to the first answer. To another: answers that came through another association. Memory and descriptors each: growth of the proxy’s peak since one association. Way out: the far end did not get the datagram; way back: its answer did not arrive. An answer that is late counts as lost on neither way.',
      staleNote(rows),
    ],
    plot: { kind: 'line', x: 'asked', y: ['carried'] },
  });
}

/** @param {Tried} call */
const callOf = (call) =>
  sectionOf({
    name: 'call',
    title: 'A call: 50 datagrams a second',
    columns: [
      ['path', 'Path', 'text', ({ path }) => TITLES[path]],
      ...FATE,
      ['jitter_ms', 'Jitter', 'ms', (row) => row.jitterMs, { compare: 'lower' }],
      ['gaps', 'Gaps over 200 ms', 'count', (row) => row.associations.gaps?.length],
      ['longest_gap_ms', 'Longest gap', 'ms', longestGap],
    ],
    rows: PATHS.map((path) => ({ path, ...call[path] })),
    notes: [
      'Both paths at the same time. Losses: consecutive datagrams without an answer in time. Jitter: RFC 3550, 6.4.1, of round trips. Reordered: RFC 4737, 3.3. Gap: a time without any datagram from the far end.',
    ],
  });

/** Faults of a call in words. @param {Seen} seen */
function faultsOf(seen) {
  const { associations, sent, lost, reordered, duplicated } = seen;
  const gaps = associations.gaps?.length ?? 0;
  return [
    lost > 0 &&
      `${grouped(lost)} of ${grouped(sent)} lost (${burstsOf(associations.loss_bursts) || kindsOf(associations.errors)})`,
    reordered > 0 && `${grouped(reordered)} reordered`,
    duplicated > 0 && `${grouped(duplicated)} duplicated`,
    gaps > 0 &&
      `${gaps} ${gaps === 1 ? 'gap' : 'gaps'} over 200 ms, the longest ${Math.round(Number(longestGap(seen)))} ms`,
  ].filter(Boolean);
}

/** @param {Tried} call */
function aboutCall({ proxied, direct }) {
  const [through, beside] = [faultsOf(proxied), faultsOf(direct)];
  const also = beside.length > 0 ? ` Direct: ${beside.join('; ')}.` : '';
  return `Call: ${through.join('; ') || 'nothing lost, reordered or duplicated, and no gap'}.${also}`;
}

/** @param {Seen} seen */
function carriedOf({ associations: { asked, opened, carried, errors } }) {
  const silent = opened - carried;
  const why = [kindsOf(errors), silent > 0 ? `${grouped(silent)} were silent` : '']
    .filter(Boolean)
    .join(', ');
  const count = `${grouped(carried)} of ${grouped(asked)}`;
  return { count, sentence: `Carried ${count} associations${why && `: ${why}`}.` };
}

/** The levels that not all associations carried, else the last level. @param {Tried[]} levels */
function decisive(levels) {
  const short = levels.filter(({ proxied: { associations: of } }) => of.carried < of.asked);
  const named = (short.length > 0 ? short : levels.slice(-1)).map(({ proxied }) => carriedOf(proxied));
  return { count: named.at(-1)?.count ?? '', sentence: named.map(({ sentence }) => sentence).join(' ') };
}

/** The sections of the run; empty if not all was tried. */
export function flowsSections() {
  const all = triedFlows();
  const levels = all.filter(({ level }) => level !== null);
  const call = all.find(({ level }) => level === null);
  if (levels.length === 0 || !call) return [];
  const { count, sentence } = decisive(levels);
  const about = aboutCall(call);
  return [
    {
      ...associationsOf(levels),
      finding: `${sentence} ${about}`,
      answer: count,
      headline: { value: count, of: 'associations carried data both ways', detail: about },
    },
    callOf(call),
  ];
}
