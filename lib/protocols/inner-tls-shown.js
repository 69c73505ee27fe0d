/** Results of the scenario `protocols/inner-tls`: the figures of each row and inside, and what differs. */
import { judge } from 'k6/x/windtunnel/difference';
import { said } from 'k6/x/windtunnel/record';
import { rangeOf, sectionOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { DIRECTIONS } from './inner-tls.js';
import { percent } from '../units.js';

/**
 * @typedef {import('./inner-tls.js').Measured} Measured
 * @typedef {import('./inner-tls.js').Figures} Figures
 * @typedef {'mib_per_s' | 'client_s' | 'server_s' | 'cpu_s'} Figure
 * @typedef {{ a: Measured, b: Measured }} Beside two that took turns; B is compared with A
 * @typedef {import('./inner-tls.js').Direction} Direction
 * @typedef {Beside & { title: string, figure: Figure, direction: Direction, answer: import('k6/x/windtunnel/difference').Answer }} Line
 */

/** Figures that are compared. `cpu_s` is of client and server together. @type {[Figure, string, 'higher' | 'lower'][]} */
const COMPARED = [
  ['cpu_s', 'CPU of both', 'lower'],
  ['client_s', 'CPU of the client', 'lower'],
  ['server_s', 'CPU of the server', 'lower'],
  ['mib_per_s', 'throughput', 'higher'],
];
const INSIDE = { plain: 'plain', tls: 'TLS 1.3' };
const DIRECTION = { down: 'download', up: 'upload' };

/** @param {Figures | undefined} turn @param {Direction} direction @param {Figure} figure @returns {number | null} */
function valueOf(turn, direction, figure) {
  if (!turn) return null;
  const moved = turn[direction];
  if (figure !== 'cpu_s') return moved[figure];
  return moved.client_s !== null && moved.server_s !== null ? moved.client_s + moved.server_s : null;
}

/** @param {Beside[]} all @returns {Line[]} */
function linesOf(all) {
  const ways = all.flatMap((beside) => DIRECTIONS.map((direction) => ({ ...beside, direction })));
  const asked = ways.flatMap(({ a, b, direction }) =>
    COMPARED.map(([figure, title, better]) => {
      const turns = Array.from({ length: Math.max(a.turns.length, b.turns.length) }, (_, index) => index);
      const found = turns.map((index) => [a, b].map((side) => valueOf(side.turns[index], direction, figure)));
      const pairs = /** @type {[number | null, number | null][]} */ (found);
      return { a, b, direction, figure, title, better, pairs };
    }),
  );
  if (asked.length === 0) return [];
  const metrics = asked.map(({ pairs, better }) => ({
    pairs: pairs.filter((pair) => !pair.includes(null)),
    better,
    scale: /** @type {const} */ ('ratio'),
    bound: 0,
    role: /** @type {const} */ ('shown'),
  }));
  const { metrics: answers } = judge({ metrics });
  return asked.map((line, index) => ({ ...line, answer: answers[index] }));
}

/**
 * The word for a line, about B compared with A: saves or costs CPU, faster or slower.
 * @param {Pick<Line, 'figure' | 'answer'>} line
 */
function wordOf({ figure, answer: { significant, estimate } }) {
  if (!significant || estimate === null) return 'cannot tell';
  if (figure === 'mib_per_s') return estimate > 1 ? 'faster' : 'slower';
  return estimate < 1 ? 'saves' : 'costs';
}

/** @param {number | null} ratio */
const percentOf = (ratio) => (ratio === null ? 'unknown' : percent(ratio));

/** The finding and the headline on what Vision saves; empty without a line of both ends' CPU. @param {Line[]} lines */
function visionFinding(lines) {
  const both = lines.filter(({ figure, answer }) => figure === 'cpu_s' && answer.estimate !== null);
  if (both.length === 0) return {};
  const told = both.map(({ a, b, direction, answer, ...line }) => {
    const { estimate, low, high } = answer;
    const range = low === null ? '' : ` (${percentOf(low)} to ${percentOf(high)})`;
    return `${b.program}, ${DIRECTION[direction]}: ${b.row} uses ${percentOf(estimate)}${range} of the CPU of ${a.row}: ${wordOf({ ...line, answer })}`;
  });
  const [{ a, b, answer }] = both;
  return {
    finding: `With TLS 1.3 inside, ${told.join('; ')}.`,
    headline: {
      value: percentOf(answer.estimate),
      of: `CPU of ${b.row}, of that of ${a.row}`,
      detail: `${b.program}, TLS 1.3 inside, ${DIRECTION[both[0].direction]}`,
    },
  };
}

/** @param {string} name @param {string} title @param {string} against title of the column @param {Beside[]} all @param {string[]} notes */
function differences(name, title, against, all, notes) {
  const lines = linesOf(all);
  return sectionOf({
    name,
    title,
    ...(name === 'vision' && visionFinding(lines)),
    columns: [
      ['program', 'Engine', 'text', ({ b }) => b.program],
      ['row', 'Row', 'text', ({ b }) => b.row],
      ['against', against, 'text', ({ a, b }) => (a.row === b.row ? INSIDE[a.inside] : a.row)],
      ['direction', 'Transfer', 'text', ({ direction }) => DIRECTION[direction]],
      ['figure', 'Figure', 'text', (line) => line.title],
      [
        'ratio',
        'Ratio',
        'ratio',
        ({ answer }) => ({
          value: answer.estimate,
          low: answer.low,
          high: answer.high,
          significant: answer.significant,
        }),
      ],
      ['pairs', 'Pairs', 'count', ({ answer }) => answer.pairs],
      ['word', 'Word', 'text', wordOf],
    ],
    rows: lines,
    notes: [
      `${notes.join(' ')} Each ratio is of pairs of turns (Hodges and Lehmann), with its exact signed-rank interval at ${lines[0] ? lines[0].answer.confidence * 100 : 95} %. Saves, costs, faster, slower: chance causes such a difference in less than 1 of 20 lines, and each line is judged alone. Cannot tell: all other lines, and each line with fewer than 6 pairs.`,
    ],
  });
}

/** @param {Measured} one @param {(turn: Figures) => number | null} of */
const range = ({ turns }, of) => rangeOf(spreadOf(turns.flatMap((turn) => (turn ? [of(turn)] : []))));
/** @param {'mib_per_s' | 'client_s' | 'server_s'} figure @returns {(line: Measured & { direction: Direction }) => ReturnType<typeof rangeOf>} */
const moved =
  (figure) =>
  ({ direction, ...one }) =>
    range(one, (turn) => turn[direction][figure]);

/** The negotiated version and cipher of all turns. @param {Measured} one */
const sessionsOf = ({ inside, turns }) =>
  inside === 'plain' ? null : [...new Set(turns.map((turn) => turn?.session ?? 'unknown'))].join(' and ');

/** @param {Measured[]} all */
const figuresSection = (all) =>
  sectionOf({
    name: 'inner_tls',
    title: 'Plain bytes and TLS 1.3 inside the tunnel',
    columns: [
      ['program', 'Engine', 'text'],
      ['version', 'Version', 'text', { print: 'none' }],
      ['row', 'Row', 'text'],
      ['inside', 'Inside', 'text', ({ inside }) => INSIDE[inside]],
      ['direction', 'Transfer', 'text', ({ direction }) => DIRECTION[direction]],
      ['mib_per_s', 'Throughput', 'MiB/s', moved('mib_per_s'), { digits: 0 }],
      ['client_s', 'Client CPU', 's/GiB', moved('client_s'), { digits: 2 }],
      ['server_s', 'Server CPU', 's/GiB', moved('server_s'), { digits: 2 }],
      ['first_byte_ms', 'First byte', 'ms', (one) => range(one, (turn) => turn.first_byte_ms)],
      ['session', 'Negotiated inside', 'text', sessionsOf],
    ],
    rows: all.flatMap((one) => DIRECTIONS.map((direction) => ({ ...one, direction }))),
    notes: [
      "Downloads and uploads in writes of 64 KiB; medians of the turns, with minimum and maximum. Client and server are the proxy's own processes: the TLS inside is made by the probe and the far end, and counts nowhere. First byte: from the dial to the first byte of the far end's answer, which the handshake inside precedes. Negotiated is what the sessions report.",
    ],
  });

/**
 * The sections of the run; empty if nothing was measured.
 * @param {string[]} operations in the order of the tables
 * @param {(row: string) => string | undefined} withoutVision name of the same row without Vision
 */
export function innerTlsSections(operations, withoutVision) {
  const kept = said();
  const all = operations.flatMap((name) => (kept[name] ? [/** @type {Measured} */ (kept[name])] : []));
  if (all.length === 0) return [];
  const find = (
    /** @type {Measured} */ of,
    /** @type {string | undefined} */ row,
    /** @type {string} */ inside,
  ) => all.find((one) => one.program === of.program && one.row === row && one.inside === inside);
  const beside = (/** @type {(b: Measured) => Measured | undefined} */ other) =>
    all
      .filter(({ inside }) => inside === 'tls')
      .flatMap((b) => {
        const a = other(b);
        return a ? [{ a, b }] : [];
      });
  const vision = beside((b) => find(b, withoutVision(b.row), 'tls'));
  return [
    figuresSection(all),
    vision.length > 0
      ? differences('vision', 'What Vision saves with TLS 1.3 inside', 'Beside', vision, [
          'Ratio of the row with Vision to the same row without Vision, both with TLS 1.3 inside.',
        ])
      : null,
    differences(
      'inside',
      'TLS 1.3 inside, compared with plain bytes inside',
      'Compared with',
      beside((b) => find(b, b.row, 'plain')),
      ['Ratio of TLS 1.3 inside to plain bytes inside, through the same processes.'],
    ),
  ];
}
