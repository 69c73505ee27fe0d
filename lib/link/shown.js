/** Results of the scenario `protocols` over a link: tables, and the rows that decide the verdict. */
import { said } from 'k6/x/windtunnel/record';
import { sectionOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { older, withFault } from '../protocols/excuse.js';
import { runs } from '../protocols/matrix.js';
import { shown } from '../protocols/outcome.js';
import { nameOf, DELAYS, FULL_MBIT } from './batch.js';
import { CONGESTION, DIRECT, controlsSaid } from './controls.js';
import { VIDEO } from './parts.js';
import { uncompared } from './one-row.js';
import { countOf } from './slope.js';

/**
 * @typedef {import('./batch.js').Entry} Entry
 * @typedef {import('./batch.js').Noted} Noted
 * @typedef {import('./parts.js').Figures} Figures
 * @typedef {{ up: number | null, down: number | null }} Rates of the link, Mbit/s; null: unlimited
 * @typedef {{ name: string, outcome: string, figures: Figures }} Shown
 */

/** @param {Record<string, number | null>} figures */
const spreads = (figures) =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, spreadOf([value])]));

/** @param {Entry} entry @returns {Noted} */
function notedOf(entry) {
  const lack = runs(entry.row, entry.side);
  if (lack !== true) return none({ outcome: 'impossible here', detail: lack });
  const noted = said()[nameOf(entry)] ?? none({ outcome: 'not reached', detail: null });
  return { ...noted, outcome: withFault(entry.row, entry.side, older(entry.row, noted.outcome)) };
}

/** @param {import('../protocols/outcome.js').Outcome} outcome @returns {Noted} */
const none = (outcome) => ({ figures: {}, outcome, version: null });

/**
 * @param {object} asked
 * @param {import('../protocols/matrix.js').Row[]} asked.rows
 * @param {import('../protocols/sides.js').Side[]} asked.sides the baseline first
 * @param {Rates} asked.rates
 * @returns {import('../section.js').More}
 */
export function shownOf({ rows, sides, rates }) {
  const side = (/** @type {Noted} */ { outcome, figures }) => ({
    ...shown(outcome),
    known: null,
    figures: spreads(figures),
  });
  const all = rows.map((row) => ({ row, noted: sides.map((oneSide) => notedOf({ row, side: oneSide })) }));
  return {
    protocols: {
      compared: false,
      rows: all.map(({ row, noted: [baseline, candidate] }) =>
        uncompared(row, side(baseline), candidate && side(candidate)),
      ),
    },
    sections: [
      ...sides.map((oneSide, index) =>
        sideSection(
          oneSide,
          all.map(({ row, noted }) => ({ name: row.row, noted: noted[index] })),
          rates,
        ),
      ),
      controlSection(rates),
    ],
  };
}

/** @param {Rates} rates @returns {import('../section.js').Column<Shown>[]} */
const columnsOf = (rates) => {
  /** @param {string} name @param {string} title @param {string} unit @param {object} [more] @returns {import('../section.js').Column<Shown>} */
  const figure = (name, title, unit, more) => [
    name,
    title,
    unit,
    ({ figures }) => figures[name] ?? null,
    more,
  ];
  const share =
    (/** @type {'up' | 'down'} */ direction) =>
    (/** @type {Shown} */ { figures }) => {
      const mbit = figures[`goodput_${direction}_mbit`];
      const rate = rates[direction];
      return typeof mbit === 'number' && rate ? mbit / rate : null;
    };
  return [
    [
      'round_trips',
      'Round trips to the first byte',
      'count',
      ({ figures }) => countOf(figures.round_trips ?? null),
    ],
    figure('round_trips_first', 'The same of the first tunnel', 'x', { digits: 1 }),
    [
      'round_trips_slope',
      'Slope',
      'x',
      ({ figures }) => figures.round_trips ?? null,
      { digits: 2, print: 'none' },
    ],
    figure('rtt_ms', 'RTT at rest', 'ms', { digits: 1, compare: 'lower' }),
    figure('page_ms', 'Page', 'ms', { digits: 0, compare: 'lower' }),
    figure('stalled_share', 'Video stood still', 'share'),
    figure('video_start_ms', 'Video began after', 'ms', { digits: 0 }),
    figure('call_lost_share', 'Call: lost', 'share'),
    figure('call_jitter_ms', 'Call: jitter', 'ms', { digits: 1 }),
    figure('goodput_down_mbit', 'Down', 'Mbit/s', { digits: 1, compare: 'higher' }),
    ['share_down', 'of the line', 'share', share('down')],
    figure('goodput_up_mbit', 'Up', 'Mbit/s', { digits: 1, compare: 'higher' }),
    ['share_up', 'of the line up', 'share', share('up')],
    figure('wire_per_byte', 'Wire by payload', 'x', { digits: 2, compare: 'lower' }),
  ];
};

const NOTES = [
  `Round trips to the first byte: from dialling the client until 64 bytes are back through a new tunnel. The number is the slope of this time over the link's round trip, from links with delays of ${DELAYS.short} and ${DELAYS.long} ms and no other impairment. The client has opened tunnels before; for the first tunnel of a newly started client, the number has a fraction.`,
  `Page: a document of 32 KiB, then 15 objects of the same size, over 6 new tunnels. Video: ${VIDEO.mbit} Mbit/s live, one segment every ${VIDEO.segment_s} s, ${VIDEO.ahead} segments ahead; the share of the time after the first picture in which it stood still. Wire by payload: bytes of IP in both directions per byte of the video, empty if a part of the video did not arrive.`,
  'Call: 50 packets of 160 bytes per second, to the far end and back. A packet counts as lost if it is lost in either direction, or takes longer than 2 s. Jitter is that of RFC 3550, for both directions together.',
  `Down and up: payload through one saturated tunnel, after its warm-up. Several rows are measured at once, each on a separate line, as long as the lines have at most ${FULL_MBIT} Mbit/s together. TCP uses the congestion control of the host.`,
];

/**
 * @param {import('../protocols/sides.js').Side} side
 * @param {{ name: string, noted: Noted }[]} rows
 * @param {Rates} rates
 */
function sideSection({ name, engine, binary }, rows, rates) {
  const version = rows.map(({ noted }) => noted.version).find(Boolean);
  const program = `${binary.split('/').pop() || engine}${version ? ` ${version}` : ''}`;
  const measured = rows.filter(({ noted }) => noted.outcome.outcome === 'measured');
  return sectionOf({
    name: name === 'baseline' ? 'over_link' : 'over_link_candidate',
    title: `Over the link: ${program}`,
    columns: [
      ['row', 'Protocol', 'text', (one) => one.name],
      ['outcome', 'Outcome', 'text', (one) => one.outcome],
      ...columnsOf(rates),
    ],
    rows: rows.map(({ name: row, noted }) => ({
      name: row,
      outcome: noted.outcome.outcome,
      figures: noted.figures,
    })),
    headline: name === 'baseline' && {
      value: `${measured.length} of ${rows.length}`,
      of: 'rows measured over the link',
    },
    notes: [
      ...rows.map(
        ({ name: row, noted: { outcome } }) =>
          outcome.detail !== null && `${row}: ${outcome.outcome}: ${outcome.detail}.`,
      ),
      ...NOTES,
    ],
    plot: { kind: 'bars', x: 'row', y: ['goodput_down_mbit', 'page_ms'] },
  });
}

/** @param {Rates} rates */
function controlSection(rates) {
  const controls = controlsSaid();
  const rows = [DIRECT, ...CONGESTION]
    .filter((name) => controls[name])
    .map((name) => ({
      name: name === DIRECT ? "TCP by the host's own, and UDP" : `TCP, ${name}`,
      outcome: '',
      figures: controls[name],
    }));
  return sectionOf({
    name: 'over_link_controls',
    title: 'The same link without a proxy',
    columns: [['row', 'Control', 'text', (one) => one.name], ...columnsOf(rates)],
    rows,
    notes: [
      'What the link lets through: the same probes between its ends. A congestion control that the kernel has not, has no figure.',
    ],
  });
}
