/** The table that compares the candidate with the baseline: ratios, and which targets it meets. */
import { sectionOf } from '../section.js';
import { FOOTPRINT } from './compare.js';
import { mayBound } from './figures.js';
import { muxOf } from './matrix.js';
import { percent } from '../units.js';

/**
 * @typedef {import('./result.js').Found} Found
 * @typedef {Found['rows'][number]} FoundRow
 * @typedef {import('./compare.js').Comparison} Line
 */

/** Targets with the titles of their columns. @type {[Line['target'], string][]} */
const BEFORE_TRIPS = [
  ['throughput', 'Throughput'],
  ['latency', 'RTT'],
  ['memory', 'Memory'],
  ['first reply', 'First reply'],
];
/** @type {[Line['target'], string][]} */
const AFTER_TRIPS = [
  ['CPU', 'CPU'],
  ['turn CPU', 'CPU of the turn'],
];

/** @param {FoundRow} row @param {Line['target']} target */
const lineOf = ({ comparison }, target) => comparison.find((line) => line.target === target);

/** @param {Line['target']} target */
const nameOf = (target) => target.toLowerCase().replace(/\W/g, '_');

/** @param {[Line['target'], string]} target @returns {import('../section.js').ColumnObject<FoundRow>} */
const ratioColumn = ([target, title]) => ({
  name: nameOf(target),
  title,
  unit: 'ratio',
  of: (row) => {
    const line = lineOf(row, target);
    return line ? { value: line.ratio, low: line.low, high: line.high, significant: line.different } : null;
  },
});

/** A column that only programs read. @param {[Line['target'], string]} target @returns {import('../section.js').Column<FoundRow>} */
const judgedColumn = ([target]) => ({
  name: `${nameOf(target)}_judged`,
  title: `${target}, judged`,
  unit: 'text',
  print: 'none',
  of: (row) => lineOf(row, target)?.judged,
});

/** Why a side of a row meets no target. @param {FoundRow} row */
function failuresOf({ baseline, candidate }) {
  return [
    ...(endedWell(baseline) ? [] : [`baseline: ${baseline.outcome}`]),
    ...(candidate && !endedWell(candidate) ? [candidate.outcome] : []),
  ];
}

/** Whether it is unknown what a side showed in the hop of a turn. @param {FoundRow} row */
const isHopUnchecked = ({ baseline, candidate }) => Boolean(baseline.unchecked || candidate?.unchecked);

/** Whether a row meets all targets (true), misses one (false) or is undecided (null), with the words for it. @param {FoundRow} row */
function judged(row) {
  const { baseline, comparison, round_trips: trips } = row;
  const failed = failuresOf(row);
  const open = comparison.filter((line) => line.judged !== null && line.judged !== 'met');
  const flagged = [
    ...failed,
    ...open.map((line) => `${line.target} ${line.judged}${line.lacks ? ` (${line.lacks})` : ''}`),
    ...(trips && trips.ok !== true ? [trips.ok === null ? uncounted(trips) : 'round trips missed'] : []),
    ...(isHopUnchecked(row) ? ['hop not checked'] : []),
  ];
  // A baseline with the wrong wire is no valid reference for a candidate.
  const isJudged = baseline.outcome !== 'wrong wire';
  const missed = failed.length > 0 || open.some((line) => line.judged === 'missed') || trips?.ok === false;
  if (missed && isJudged) return { ok: false, text: flagged.join(', ') };
  return flagged.length > 0 ? { ok: null, text: flagged.join(', ') } : { ok: true, text: 'met' };
}

/** @param {NonNullable<FoundRow['round_trips']>} trips */
const uncounted = ({ baseline }) =>
  `round trips not counted of the ${baseline === null ? 'baseline' : 'candidate'}`;

/** @param {import('./result.js').SideResult} side */
const endedWell = ({ outcome, known }) => outcome === 'measured' || known !== null;

/** @type {import('../section.js').Column<FoundRow>} */
const ROUND_TRIPS = [
  'round_trips',
  'Round trips',
  'text',
  ({ round_trips: trips }) => trips && `${trips.candidate ?? 'unknown'} of ${trips.baseline ?? 'unknown'}`,
];

/** @param {Found} found @returns {import('../section.js').Column<FoundRow>[]} */
const columnsOf = ({ rows }) => [
  ['ok', '', 'ok', (row) => judged(row).ok],
  ['row', 'Protocol', 'text'],
  ...BEFORE_TRIPS.map(ratioColumn),
  ...(rows.some(({ round_trips: trips }) => trips) ? [ROUND_TRIPS] : []),
  ...AFTER_TRIPS.map(ratioColumn),
  ...FOOTPRINT.map(({ target }) => ({
    ...ratioColumn([target, target]),
    print: /** @type {const} */ ('none'),
  })),
  ['targets', 'Targets', 'text', (row) => judged(row).text],
  ...BEFORE_TRIPS.map(judgedColumn),
  ['turns', 'Turns', 'count', { print: 'none' }],
];

/** @param {Found} found of a baseline and a candidate */
export function comparisonSection(found) {
  const rows = found.rows.filter(({ comparison }) => comparison.length > 0);
  return sectionOf({
    name: 'comparison',
    title: 'Candidate against baseline',
    columns: columnsOf(found),
    rows,
    notes: notesOf(found, rows),
  });
}

/** When the rows were judged, and the confidence of an interval. @param {Found} found */
const aboutLooks = ({ looks = [] }) =>
  looks
    .map(({ turns, confidence }) => {
      const sure = `${Number((confidence * 100).toPrecision(4))} %`;
      return turns === null ? sure : `${sure} after ${turns} turns`;
    })
    .join(', ');

/** @param {Found} found @param {FoundRow[]} rows */
function notesOf(found, rows) {
  const { targets, baseline, candidate } = found;
  if (!targets || rows.length === 0) return [];
  const bounded = found.rows.some(
    (row) => row.candidate && (mayBound(found, row.baseline) || row.told_mbit_per_s !== null),
  );
  const twoMuxes =
    candidate !== null &&
    muxOf(baseline.engine) !== muxOf(candidate.engine) &&
    rows.some(({ multiplex }) => multiplex);
  return [
    `Targets: throughput (64 KiB) at least ${percent(targets.throughput)}, RTT at most ${percent(targets.latency)}, memory at most ${percent(targets.memory)} of the baseline, first reply at most ${percent(targets.first_reply)}, round trips in the hop until a tunnel has opened, answered and closed at most ${percent(targets.round_trips)}. Missed: the candidate is significantly beyond the target, over all targets of all rows together, and its ratio is beyond by more than ${percent(targets.tolerance)}. Met: each turn of both sides has the figure, and the whole interval is within the target plus this tolerance. Uncertain: the turns differ too much, are too few, or lack a figure. Memory, descriptors, left connections and wake-ups after a turn are missed likewise, beyond the target of memory or the baseline's number; they are never met.`,
    `Ratios of candidate to baseline, from pairs of turns (Hodges and Lehmann), with the exact signed-rank interval at ${aboutLooks(found)}. An asterisk marks a difference that chance alone causes in less than 1 of 20 cases. CPU (per GiB) and CPU of the turn have no target. CPU of the turn is all CPU time from the first probe to the end of a quiet period in which nothing is sent, so it includes postponed work.`,
    bounded &&
      'Probe and far end, or a fixed sending rate, may limit the throughput of the baseline. Then a throughput is "bound" instead of "met" if the candidate needs so much more CPU that it would miss the target by that.',
    twoMuxes &&
      `Rows with mux compare two protocols: ${muxOf(baseline.engine)} of ${baseline.engine}, and ${muxOf(candidate.engine)} of ${candidate.engine}.`,
    aboutTurns(found),
  ];
}

/** @param {Found} found */
function aboutTurns({ turns, rows, turns_to_miss: toMiss = 0 }) {
  const most = Math.max(turns, ...rows.map((row) => row.turns));
  return (
    most < toMiss && `${most} turns meet and miss no target: with so many targets it takes ${toMiss} turns.`
  );
}
