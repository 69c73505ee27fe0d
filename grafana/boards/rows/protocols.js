/** Rows of the protocol matrix and chains of them: how each ended, and what it measured. */
import { JUDGEMENTS, OUTCOMES, coloured } from '../colours.js';
import { CHOSEN, CHOSEN_SCENARIOS, points, rows } from '../influx.js';
import { table } from '../panels.js';
import { inOrder, joinedBy, withoutColumns } from '../transformations.js';
import { units } from '../units.js';

const NOTHING = 'no row of protocols yet';
/** Those of the chosen scenarios that have rows. */
const ROWS = [...CHOSEN, `"system" = 'protocols' AND "scenario" =~ /^(matrix|chain)$/`];

/** @returns {import('../board.js').Row} */
export const protocolRow = () => ({
  id: 800,
  title: 'Protocols, row by row',
  panels: [turns(), soFar(), results(), candidate()],
});

/** @param {string} name */
const outcomes = (name) => ({ matcher: { id: 'byName', options: name }, properties: coloured(OUTCOMES) });

const turns = () =>
  table({
    id: 801,
    title: 'Turns so far',
    description:
      'How the turns of each row ended, as soon as its turns are over; a candidate beside its baseline.',
    unit: units.count,
    w: 9,
    noValue: NOTHING,
  })
    .withTarget(
      rows(
        'A',
        points({
          select: 'sum("count") AS "turns"',
          from: ['protocol_turns'],
          where: ROWS,
          by: ['scenario', 'operation', 'outcome'],
        }),
      ),
    )
    .transformations([withoutColumns('Time'), inOrder(['scenario', 'operation', 'outcome', 'turns'])])
    .overrides([outcomes('outcome')]);

/** What k6 has of each turn, by what it is called here. */
const FIGURES = {
  'First reply': { metric: 'protocol_handshake_ms', unit: units.ms },
  'Round trip': { metric: 'operation_ms', unit: units.ms },
  Throughput: { metric: 'protocol_mbit_per_s', unit: units.mbit },
  'CPU for each GiB': { metric: 'protocol_cpu_s_per_gib', unit: units.seconds },
  'Own memory': { metric: 'protocol_peak_anon_mib', unit: units.mebibytes },
};

const soFar = () =>
  table({
    id: 802,
    title: 'Figures so far',
    description:
      'Means: of a tunnel’s first reply, a round trip of 1 KiB, throughput in writes of 64 KiB, and what client and server used for it. The report has the medians, and more sizes.',
    unit: units.none,
    w: 15,
    noValue: NOTHING,
  })
    .targets(
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
    )
    .transformations([
      withoutColumns('Time'),
      joinedBy('operation'),
      inOrder(['operation', ...Object.keys(FIGURES)]),
    ])
    .overrides(
      Object.entries(FIGURES).map(([name, { unit }]) => ({
        matcher: { id: 'byName', options: name },
        properties: [{ id: 'unit', value: unit }],
      })),
    );

/** Of `protocols`, by what it is called here. */
const MEDIANS = {
  'First reply': { field: 'handshake_ms', unit: units.ms },
  'Round trip': { field: 'rtt_ms', unit: units.ms },
  'Datagram and back': { field: 'udp_rtt_ms', unit: units.ms },
  'Writes of 1 KiB': { field: 'mbit_1k', unit: units.mbit },
  '64 KiB': { field: 'mbit_64k', unit: units.mbit },
  '1 MiB': { field: 'mbit_1m', unit: units.mbit },
  'Up, 64 KiB': { field: 'mbit_64k_up', unit: units.mbit },
  'CPU for each GiB': { field: 'cpu_s_per_gib', unit: units.seconds },
  'Own memory': { field: 'peak_anon_mib', unit: units.mebibytes },
  'Peak RSS': { field: 'peak_rss_mib', unit: units.mebibytes },
};

const results = () =>
  table({
    id: 803,
    title: 'Rows of the whole run',
    description:
      'Known when a scenario has ended: each side’s outcome with the reason, and medians of its turns. Impossible here: this machine or program cannot.',
    unit: units.none,
    w: 24,
    h: 12,
    noValue: 'none has ended yet',
  })
    .withTarget(
      rows(
        'A',
        points({
          select: [
            '"row", "side", "outcome"',
            ...Object.entries(MEDIANS).map(([name, { field }]) => `"${field}" AS "${name}"`),
            '"detail"',
          ].join(', '),
          from: ['protocols'],
          where: CHOSEN_SCENARIOS,
        }),
      ),
    )
    .transformations([
      withoutColumns('Time'),
      inOrder(['row', 'side', 'outcome', ...Object.keys(MEDIANS), 'detail']),
    ])
    .overrides([
      outcomes('outcome'),
      ...Object.entries(MEDIANS).map(([name, { unit }]) => ({
        matcher: { id: 'byName', options: name },
        properties: [{ id: 'unit', value: unit }],
      })),
    ]);

const TARGETS = ['throughput', 'latency', 'memory'];

const candidate = () =>
  table({
    id: 804,
    title: 'The candidate by the baseline',
    description:
      'Of a run with CANDIDATE, when it has ended: what the candidate is of the baseline, with the confidence interval, and whether the target is met. A dash: too few turns.',
    unit: units.share,
    w: 24,
    noValue: '–',
  })
    .withTarget(
      rows(
        'A',
        points({
          select: [
            '"row"',
            ...TARGETS.flatMap((target) =>
              ['ratio', 'low', 'high', 'judged'].map(
                (what) => `"${target}_${what}" AS "${titleOf(target, what)}"`,
              ),
            ),
          ].join(', '),
          from: ['protocols'],
          where: [...CHOSEN_SCENARIOS, `"side" = 'candidate'`],
        }),
      ),
    )
    .transformations([withoutColumns('Time')])
    .overrides(
      TARGETS.map((target) => ({
        matcher: { id: 'byName', options: titleOf(target, 'judged') },
        properties: coloured(JUDGEMENTS),
      })),
    );

/** @param {string} target @param {string} what */
const titleOf = (target, what) => (what === 'ratio' ? target : `${target}, ${what}`);
