/** Rows of the protocol matrix and chains of them: the end of each, and its figures. */
import { JUDGEMENTS, OUTCOMES } from '../../parts/colours.js';
import { CHOSEN, ofSections, points, rows } from '../../parts/influx.js';
import { table } from '../../parts/panels.js';
import { joinedBy, withoutColumns } from '../../parts/transformations.js';
import { units } from '../../parts/units.js';

const NOTHING = 'no row of protocols yet';
/** Condition for the chosen scenarios that have rows. */
const ROWS = [...CHOSEN, `"system" = 'protocols' AND "scenario" =~ /^(matrix|chain)$/`];

/** @returns {import('../board.js').Row} */
export const protocolRow = () => ({
  id: 800,
  title: 'Protocols, row by row',
  collapsed: true,
  panels: [turns(), soFar(), results(), candidate()],
});

const turns = () =>
  table({
    id: 801,
    title: 'Turns so far',
    description:
      'How the turns of each row ended, as soon as its turns are over; a candidate beside its baseline.',
    unit: units.count,
    w: 9,
    empty: NOTHING,
    columns: [
      { name: 'scenario', fitted: true },
      { name: 'operation' },
      { name: 'outcome', width: 160, colours: OUTCOMES },
      { name: 'turns', fitted: true },
    ],
    shows: {
      select: 'sum("count") AS "turns"',
      from: ['protocol_turns'],
      where: ROWS,
      by: ['scenario', 'operation', 'outcome'],
    },
  });

/** Figures that k6 has for each turn, by their names here. */
const FIGURES = {
  'Reply mean': { metric: 'protocol_handshake_ms', unit: units.ms },
  'Trip mean': { metric: 'operation_ms', unit: units.ms },
  '64 KiB mean': { metric: 'protocol_mbit_per_s', unit: units.mbit },
  'CPU/GiB mean': { metric: 'protocol_cpu_s_per_gib', unit: units.seconds },
  'Memory mean': { metric: 'protocol_peak_anon_mib', unit: units.mebibytes },
};

/** @param {Record<string, { unit: string, of?: string }>} figures @returns {import('../../parts/columns.js').Column[]} */
const columnsOf = (figures) =>
  Object.entries(figures).map(([name, { unit, of }]) => ({ name, unit, of, fitted: true }));

const soFar = () =>
  table({
    id: 802,
    title: 'Figures so far',
    description:
      'Means over the turns so far. Reply: the first reply of a tunnel. Trip: a round trip of 1 KiB. 64 KiB: payload in writes of that size. Memory: the peak of client and server. The report has medians and more sizes.',
    w: 15,
    empty: NOTHING,
    transformations: [withoutColumns('Time'), joinedBy('operation')],
    columns: [{ name: 'operation' }, ...columnsOf(FIGURES)],
  }).targets(
    Object.entries(FIGURES).map(([name, { metric }], index) =>
      rows(
        String.fromCharCode(65 + index),
        points({
          select: `sum("sum") / sum("count") AS "${name}"`,
          from: [metric],
          where: ROWS,
          by: ['operation'],
        }),
      ),
    ),
  );

/** Figures of the tables `baseline` and `candidate`, by their names here. */
const MEDIANS = {
  'Reply P50': { of: 'handshake_ms', unit: units.ms },
  'Trip P50': { of: 'rtt_ms', unit: units.ms },
  'UDP P50': { of: 'udp_rtt_ms', unit: units.ms },
  '1K P50': { of: 'mbit_1k', unit: units.mbit },
  '64K P50': { of: 'mbit_64k', unit: units.mbit },
  '1M P50': { of: 'mbit_1m', unit: units.mbit },
  '64K up P50': { of: 'mbit_64k_up', unit: units.mbit },
  'CPU/GiB P50': { of: 'cpu_s_per_gib', unit: units.seconds },
  'Memory P50': { of: 'peak_anon_mib', unit: units.mebibytes },
  'RSS P50': { of: 'peak_rss_mib', unit: units.mebibytes },
};

const results = () =>
  table({
    id: 803,
    title: 'Rows of the whole run',
    description:
      'Known when a scenario has ended: each side’s outcome with the reason, and P50 of its turns. Reply: first reply. Trip: round trip of 1 KiB; UDP: of a datagram. 1K to 1M: payload in writes of 1 KiB to 1 MiB. Memory and RSS: peaks. Impossible here: this machine or program cannot.',
    h: 12,
    empty: 'no scenario with rows of protocols has ended yet',
    columns: [
      { name: 'row', width: 170 },
      { name: 'side', of: 'section', width: 90 },
      { name: 'outcome', of: 'outcome_text', width: 130, colours: OUTCOMES },
      ...columnsOf(MEDIANS),
      { name: 'detail', of: 'detail_text', long: true },
    ],
    shows: ofSections('baseline|candidate'),
  });

/** Judged figures, by the short form in the titles beside them: titles are the keys of a table's cells. */
const TARGETS = { throughput: '64K', latency: 'trip', memory: 'memory' };
/** The columns beside a ratio: the interval and the judgement. */
const BESIDE = {
  low: { of: 'low', title: 'low', fitted: true },
  high: { of: 'high', title: 'high', fitted: true },
  judged: { of: 'judged_text', title: 'target', width: 160, colours: JUDGEMENTS },
};

const candidate = () =>
  table({
    id: 804,
    title: 'The candidate by the baseline',
    description:
      'Of a run with CANDIDATE, when it has ended: candidate / baseline of the medians (64K: payload in writes of 64 KiB; trip: round trip), with the confidence interval, and whether the target is met. A dash: too few turns.',
    unit: units.share,
    h: 6,
    empty: 'this run has no candidate, or has not ended: make protocols CANDIDATE=… compares one',
    columns: [
      { name: 'row' },
      ...Object.entries(TARGETS).flatMap(([target, short]) => [
        { name: target, title: `${short} ratio`, fitted: true },
        ...Object.entries(BESIDE).map(([what, { of, title, ...look }]) => ({
          name: `${target}, ${what}`,
          of: `${target}_${of}`,
          title: `${short} ${title}`,
          ...look,
        })),
      ]),
    ],
    shows: ofSections('comparison'),
  });
