/** A script of k6: the laws of the matrix with a candidate, over random edits of made turns. It prints its findings. */
/* global __ENV */
import { comparisonSection } from '../../../lib/protocols/comparison.js';
import { protocolsOf } from '../../../lib/protocols/result.js';
import { copyOf, tried } from './random.js';

/** Figures of a turn, and which way is worse; the first four have targets. @type {Record<string, 'less' | 'more'>} */
const WORSE = {
  mbit_64k: 'less',
  rtt_ms: 'more',
  peak_anon_mib: 'more',
  handshake_ms: 'more',
  cpu_s_per_gib: 'more',
  turn_cpu_s: 'more',
};
const FIGURES = Object.keys(WORSE);
/** Each target's figure. */
const TARGET_OF = {
  throughput: 'mbit_64k',
  latency: 'rtt_ms',
  memory: 'peak_anon_mib',
  'first reply': 'handshake_ms',
};
const MIDDLE = {
  mbit_64k: 2000,
  rtt_ms: 0.2,
  peak_anon_mib: 50,
  handshake_ms: 2,
  cpu_s_per_gib: 3,
  turn_cpu_s: 0.4,
};
const TARGETS = { throughput: 0.9, latency: 1.2, first_reply: 2, round_trips: 2, memory: 1, tolerance: 0.05 };
const ALL_ONE = { ...TARGETS, throughput: 1, latency: 1, first_reply: 1 };
/** How a candidate may be beside the baseline; near the targets, and far from them. */
const FACTORS = [0.3, 0.8, 0.86, 0.92, 1, 1.04, 1.1, 1.22, 1.3, 2.1, 4];
const LEVEL = { missed: 0, uncertain: 1, bound: 1, met: 2 };

/** @typedef {import('./random.js').Lot} Lot */

/** @param {Lot} lot @param {number} count @param {Record<string, number>} factors */
const turnsOf = (lot, count, factors) =>
  Array.from({ length: count }, () => ({
    ...Object.fromEntries(
      FIGURES.map((figure) => [figure, MIDDLE[figure] * (factors[figure] ?? 1) * lot.about(0.04)]),
    ),
    measuring_cpus: factors.measuring_cpus ?? 0.5,
    failed: 0,
    failed_share: 0,
  }));

const NAMES = ['trojan', 'vless'];

/** @param {Lot} lot */
function made(lot) {
  const turns = lot.one([6, 9, 10, 11, 14]);
  const names = NAMES.slice(0, 1 + lot.below(NAMES.length));
  const side = (/** @type {Record<string, number>} */ factors) => ({
    turns: turnsOf(lot, turns, factors),
    outcomes: Array.from({ length: turns }, () => ({ outcome: 'measured', detail: null })),
    version: '1',
    roundTrips: 3 + lot.below(5),
  });
  const notes = Object.fromEntries(
    names.map((name) => [
      name,
      {
        baseline: side({ measuring_cpus: lot.one([0.5, 0.5, 0.9]) }),
        candidate: side(Object.fromEntries(FIGURES.map((figure) => [figure, lot.one(FACTORS)]))),
      },
    ]),
  );
  return { notes, names, turns, looks: lot.one([[], [turns]]) };
}

const program = (/** @type {string} */ name) => ({ name, engine: 'sing-box', binary: `/x/${name}` });

/** The verdict of each row and target, and whether each row meets all targets. @param {any} run @param {any} [targets] */
function judged({ notes, names, turns, looks }, targets = TARGETS) {
  const rows = names.map((/** @type {string} */ row) => ({
    row,
    engines: { 'sing-box': true },
    variables: {},
  }));
  const found = protocolsOf(notes, {
    rows,
    baseline: /** @type {any} */ (program('baseline')),
    candidate: /** @type {any} */ (program('candidate')),
    turns,
    extraTurns: 0,
    looks,
    targets,
    digests: {},
    covers: false,
  });
  /** @type {Record<string, keyof typeof LEVEL>} */
  const lines = {};
  for (const { row, comparison } of found.rows)
    for (const { target, judged: how } of comparison) if (how !== null) lines[`${row} ${target}`] = how;
  const { columns, rows: shown } = comparisonSection(found);
  const at = (/** @type {string} */ name) => columns.findIndex((column) => column.name === name);
  const whole = Object.fromEntries(shown.map((cells) => [String(cells[at('row')]), cells[at('ok')]]));
  return { lines, whole };
}

/** Values that no turn can have; a throughput of 0 is one that the candidate can have. */
const IMPOSSIBLE = [null, undefined, -1, NaN, Infinity, -Infinity];

/** A value that the figure of a side cannot have. @param {Lot} lot @param {string} figure @param {string} name of the side */
function impossible(lot, figure, name) {
  const ofCandidate = name === 'candidate';
  // A huge or zero figure of a candidate may be evidence against it, and is not impossible.
  const huge = figure === 'measuring_cpus' || (ofCandidate && WORSE[figure] === 'more') ? [] : [1e300];
  const zero = ofCandidate && figure === 'mbit_64k' ? [] : [0];
  return lot.one([...IMPOSSIBLE, ...zero, ...huge]);
}

/** Edits that take evidence away. @type {((lot: Lot, of: { run: any, row: string, name: string, at: number, figure: string }) => void)[]} */
const REMOVALS = [
  (_lot, { run, row, name, figure }) => {
    for (const turn of run.notes[row][name].turns) delete turn[figure];
  },
  (_lot, { run, row, name, at }) => run.notes[row][name].turns.splice(at, 1),
  (_lot, { run, row, at }) => {
    for (const side of Object.values(run.notes[row])) side.turns.splice(at, 1);
  },
  (_lot, { run, row }) => delete run.notes[row],
  (lot, { run, row, name }) => (run.notes[row][name].roundTrips = lot.one([null, 0, -3, NaN])),
  (_lot, { run, row, name }) => (run.notes[row][name].turns = []),
  (lot, { run, row, name, at, figure }) =>
    (run.notes[row][name].turns[at][figure] = impossible(lot, figure, name)),
];

/** Takes evidence away once. @param {Lot} lot @param {any} run @returns {string} what */
function removed(lot, run) {
  const of = {
    row: lot.one(run.names),
    name: lot.one(['baseline', 'candidate']),
    at: lot.below(run.turns),
    figure: lot.one([...FIGURES, 'measuring_cpus']),
  };
  const place = lot.below(REMOVALS.length);
  REMOVALS[place](lot, { run, ...of });
  return `removal ${place} of ${JSON.stringify(of)}`;
}

/** Makes the candidate worse. @param {Lot} lot @param {any} run @returns {string} what */
function worsened(lot, run) {
  const row = lot.one(run.names);
  const { turns } = run.notes[row].candidate;
  const figure = lot.one(FIGURES);
  const by = lot.one([1.01, 1.2, 3, 1000, 1e30]);
  const some = lot.one([
    [lot.below(turns.length)],
    turns.map((/** @type {any} */ _turn, /** @type {number} */ at) => at),
  ]);
  for (const at of some) turns[at][figure] *= WORSE[figure] === 'less' ? lot.one([1 / by, 0]) : by;
  return `${figure} of ${row} by ${by} in ${some.length} turns`;
}

/** @param {ReturnType<typeof judged>} before @param {ReturnType<typeof judged>} after @param {(was: number, is: number) => boolean} breaks */
const differing = (before, after, breaks) =>
  Object.keys(before.lines).find((line) => {
    const is = after.lines[line] ?? 'uncertain';
    return breaks(LEVEL[before.lines[line]], LEVEL[is]);
  }) ??
  Object.keys(before.whole).find((row) => before.whole[row] !== true && after.whole[row] === true) ??
  null;

/** @type {Record<string, (lot: Lot) => string | null>} */
const LAWS = {
  'no target is met in turns that could not have missed it': (lot) => {
    const run = made(lot);
    const worst = copyOf(run);
    for (const row of run.names)
      for (const [at, turn] of worst.notes[row].candidate.turns.entries())
        for (const figure of Object.values(TARGET_OF))
          turn[figure] = run.notes[row].baseline.turns[at][figure] * (WORSE[figure] === 'less' ? 1e-3 : 1e3);
    const [{ lines }, { lines: missed }] = [judged(run), judged(worst)];
    return Object.keys(lines).find((line) => lines[line] === 'met' && missed[line] !== 'missed') ?? null;
  },
  'what is removed meets nothing': (lot) => {
    const run = made(lot);
    const before = judged(run);
    const edit = removed(lot, run);
    const wrong = differing(before, judged(run), (was, is) => was < 2 && is === 2);
    return wrong && `${wrong}: ${edit}`;
  },
  'a turn that lacks a figure is not met': (lot) => {
    const run = made(lot);
    const [row, target] = [lot.one(run.names), lot.one(Object.keys(TARGET_OF))];
    const side = lot.one(['baseline', 'candidate']);
    run.notes[row][side].turns[lot.below(run.turns)][TARGET_OF[target]] = lot.one(IMPOSSIBLE);
    const { lines, whole } = judged(run);
    return lines[`${row} ${target}`] === 'met' || whole[row] === true
      ? `${row} ${target} of the ${side}`
      : null;
  },
  'what is worse is judged no better': (lot) => {
    const run = made(lot);
    const before = judged(run);
    const edit = worsened(lot, run);
    const wrong = differing(before, judged(run), (was, is) => is > was);
    return wrong && `${wrong}: ${edit}`;
  },
  'two sides that are far apart do not both meet a target': (lot) => {
    const run = made(lot);
    const figure = lot.one(Object.values(TARGET_OF));
    const factor = lot.one([0.5, 0.7, 1.5, 2]);
    for (const row of run.names)
      for (const [at, turn] of run.notes[row].candidate.turns.entries())
        turn[figure] = run.notes[row].baseline.turns[at][figure] * factor * lot.about(0.04);
    const swapped = copyOf(run);
    for (const row of run.names) {
      const { baseline, candidate } = swapped.notes[row];
      Object.assign(swapped.notes[row], { baseline: candidate, candidate: baseline });
    }
    const [there, back] = [judged(run, ALL_ONE), judged(swapped, ALL_ONE)];
    const target = Object.keys(TARGET_OF).find((name) => TARGET_OF[name] === figure);
    const wrong = run.names.find((/** @type {string} */ row) =>
      [there, back].every(({ lines }) => lines[`${row} ${target}`] === 'met'),
    );
    return wrong ? `${wrong} ${target}: ${factor}` : null;
  },
  'the order of rows is no matter': (lot) => {
    const run = made(lot);
    const names = lot.shuffled(run.names);
    const other = { ...run, names, notes: Object.fromEntries(names.map((name) => [name, run.notes[name]])) };
    const [before, after] = [judged(run), judged(other)];
    const same = Object.keys(before.lines).every((line) => before.lines[line] === after.lines[line]);
    return same ? null : names.join(', ');
  },
};

export default () => {};
export const handleSummary = () => ({
  stdout: JSON.stringify(tried(LAWS, Number(__ENV.CASES), Number(__ENV.FROM || 1))),
});
