/** Turns the notes on a run's rows into its result. */
import { MEASURING_BOUND, compareRows, figuresOf } from './compare.js';
import { besideBaseline, excused, older, wanting } from './excuse.js';
import { comparisonSection } from './comparison.js';
import { costsSections } from './costs-shown.js';
import { coverageSections } from './coverage.js';
import { sideSection } from './figures.js';
import { footprintSection } from './footprint.js';
import { limitsSections } from './limited.js';
import { coverage, runs } from './matrix.js';
import { shown, worst } from './outcome.js';
import { tunSections } from './tun.js';

/**
 * @typedef {import('./sides.js').Side} Side
 * @typedef {import('./matrix.js').Row} Row
 * @typedef {object} SideResult
 * @property {import('./outcome.js').Name} outcome
 * @property {string | null} detail
 * @property {string | null} known the fault that excuses its errors
 * @property {boolean} [busy] whether a busy machine may have caused the outcome
 * @property {number} [killed] processes that the kernel killed for memory
 * @property {string | null} unchecked why the hop could not be checked, in the first such turn
 * @property {Record<string, import('../spread.js').Spread | null>} figures
 *
 * @typedef {object} Notes the results of one side of a row
 * @property {import('./compare.js').Turn[]} turns
 * @property {import('./outcome.js').Outcome[]} outcomes of the turns, until the side could not go on
 * @property {string | null} version
 * @property {{ file: string, sha256: string }[]} [ran] files that its processes executed
 * @property {import('./tun.js').Device | null} [tun] its TUN device in the first turn; null: unknown
 * @property {import('./traits.js').Traits} [traits] by protocols/traits
 * @property {import('./traits.js').HalfClose | null} [halfClose] by protocols/matrix
 * @property {import('./costs.js').Costs} [costs] by protocols/matrix in full
 * @property {number | null} [roundTrips] of the hop until a tunnel has opened, answered and closed
 *
 * @typedef {object} Asked
 * @property {Row[]} rows
 * @property {Side} baseline
 * @property {Side | null} candidate
 * @property {number} turns
 * @property {number} extraTurns number of first turns with all sizes of writes and with tunnels
 * @property {number[]} [looks] numbers of turns after which the rows were judged; empty: all rows have the planned number
 * @property {import('./compare.js').Targets} targets
 * @property {Record<string, string | null>} digests SHA-256 of the sides' programs
 * @property {boolean} [quiet] whether turns note what the programs hold at their end
 * @property {boolean} [covers] whether the rows are from the matrix, so that they cover types of sing-box
 */

/** @typedef {Record<string, Record<string, Notes>>} AllNotes by row, then by side */

/** @typedef {ReturnType<typeof protocolsOf>} Found */

/**
 * The scenario's tables, and the rows that decide the verdict. @param {AllNotes} notes @param {Asked} asked
 * @returns {import('../section.js').More}
 */
export function shownOf(notes, asked) {
  const found = protocolsOf(notes, asked);
  const compared = found.candidate !== null;
  return {
    protocols: { compared, rows: found.rows },
    sections: [
      sideSection(found, 'baseline'),
      ...(compared ? [sideSection(found, 'candidate'), comparisonSection(found)] : []),
      ...(asked.quiet ? [footprintSection(found)] : []),
      ...costsSections(found, notes),
      ...limitsSections(found),
      ...tunSections(asked.rows, notes),
      ...coverageSections(found),
    ],
  };
}

/** @param {AllNotes} notes @param {Asked} asked */
export function protocolsOf(notes, asked) {
  const { rows, baseline, candidate, turns, extraTurns, targets, digests, covers = true } = asked;
  const compared = comparisonOf(notes, asked);
  return {
    baseline: describe(notes, baseline, digests),
    candidate: candidate && describe(notes, candidate, digests),
    turns,
    extra_turns: Math.min(turns, extraTurns),
    ...compared?.about,
    measuring_bound_cpus: MEASURING_BOUND,
    targets: candidate ? targets : null,
    rows: rows.map((row) => rowOf(row, notes[row.row], asked, compared?.byRow[row.row] ?? [])),
    coverage: covers ? coverage : { inbound: [], outbound: [], protocols: [] },
  };
}

/**
 * Compares all rows that the baseline ran and the candidate's engine can run, in one statistical test; null without a candidate.
 * Unmeasured rows count too: with fewer rows, fewer turns would suffice for the targets of the others.
 * @param {AllNotes} notes
 * @param {Asked} asked
 */
function comparisonOf(notes, { rows, baseline, candidate, targets, turns, looks = [] }) {
  if (candidate === null) return null;
  const able = rows.filter((row) => {
    const { base } = endedOf(row, notes[row.row], { baseline, candidate });
    return base.outcome !== 'impossible here' && runs(row, candidate) === true;
  });
  const judged = compareRows(
    able.map((row) => ({
      baseline: notes[row.row]?.baseline.turns ?? [],
      candidate: notes[row.row]?.candidate.turns ?? [],
      paced: toldRate(row) !== null,
      planned: turns,
    })),
    targets,
    looks,
  );
  return {
    about: { turns_to_miss: judged.turnsToMiss, looks: judged.looks },
    byRow: Object.fromEntries(able.map(({ row }, index) => [row, judged.comparisons[index]])),
  };
}

/**
 * The files that a side's processes executed, without duplicates.
 * @param {AllNotes} notes
 * @param {string} side
 */
const ranOf = (notes, side) => {
  const all = Object.values(notes).flatMap((row) => row[side]?.ran ?? []);
  return all.filter(({ sha256 }, index) => all.findIndex((other) => other.sha256 === sha256) === index);
};

/** @param {import('./sides.js').Program} program */
const fileOf = ({ engine, binary }) => binary.split('/').pop() || engine;

/** @param {AllNotes} notes @param {Side} side @param {Asked['digests']} digests */
const describe = (notes, { name, ...side }, digests) => ({
  engine: side.engine,
  binary: side.server ? `client ${fileOf(side)}, server ${fileOf(side.server)}` : fileOf(side),
  version:
    Object.values(notes)
      .map((row) => row[name]?.version)
      .find(Boolean) ?? null,
  sha256: digests[name] ?? null,
  ran: ranOf(notes, name),
});

/**
 * @param {Row} row
 * @param {Record<string, Notes> | undefined} notes
 * @param {Asked} asked
 * @param {import('./compare.js').Comparison[]} comparison
 */
function rowOf(row, notes, { baseline, candidate, targets }, comparison) {
  const { base, other } = endedOf(row, notes, { baseline, candidate });
  const failed = { baseline: failedOf(notes?.baseline), candidate: failedOf(notes?.candidate) };
  return {
    row: row.row,
    multiplex: row.multiplex,
    told_mbit_per_s: toldRate(row),
    baseline: base,
    candidate: candidate && other && besideBaseline(row, { baseline, candidate }, base, other, failed),
    round_trips: roundTripsOf(notes, targets.round_trips),
    turns: Math.max(...Object.values(notes ?? {}).map((side) => side.turns.length), 0),
    comparison,
  };
}

/**
 * Compares the round trips of the hop, which are counts without noise. If one side has no count, the result is unknown.
 * @param {Record<string, Notes> | undefined} notes
 * @param {number} most target as a multiple of the baseline's count
 */
function roundTripsOf(notes, most) {
  const [base, other] = [notes?.baseline, notes?.candidate].map((side) => countOf(side?.roundTrips));
  if (base === null && other === null) return null;
  const ok = base === null || other === null ? null : other <= base * most;
  return { baseline: base, candidate: other, ok };
}

/** @param {number | null | undefined} count */
const countOf = (count) => (Number.isInteger(count) && Number(count) > 0 ? Number(count) : null);

/** The configured sending rate of a row, Mbit/s; null if the protocol measures it. @param {Row} row */
const toldRate = ({ told, variables }) => (told ? Number(variables[told]) : null);

/**
 * Failed operations in all turns; null if a turn has no count, or if there were errors and no failure was counted.
 * @param {Notes | undefined} notes
 * @returns {number | null}
 */
function failedOf({ turns, outcomes } = { turns: [], outcomes: [], version: null }) {
  const counts = turns.map(({ failed }) => failed);
  if (!counts.every((count) => Number.isInteger(count) && Number(count) >= 0)) return null;
  const all = counts.reduce((/** @type {number} */ sum, count) => sum + Number(count), 0);
  return all === 0 && outcomes.some(({ outcome }) => outcome === 'errors') ? null : all;
}

/**
 * How both sides of a row ended. A candidate must have what the baseline has. If a row is newer than the baseline, the candidate may lack it.
 * @param {Row} row
 * @param {Record<string, Notes> | undefined} notes
 * @param {Pick<Asked, 'baseline' | 'candidate'>} sides
 */
function endedOf(row, notes, { baseline, candidate }) {
  const base = excused(row, baseline, shown(older(row, sideOf(row, notes, baseline))));
  const other = candidate && sideOf(row, notes, candidate);
  const lacked = base.outcome === 'impossible here';
  return { base, other: other && shown(lacked ? older(row, other) : wanting(other)) };
}

/** @param {Row} row @param {Record<string, Notes> | undefined} notes @param {Side} side @returns {SideResult} */
function sideOf(row, notes, side) {
  const lack = runs(row, side);
  if (lack !== true)
    return { outcome: 'impossible here', detail: lack, known: null, unchecked: null, figures: {} };
  const { outcomes, turns } = notes?.[side.name] ?? { outcomes: [], turns: [] };
  const unchecked = outcomes.find((one) => one.unchecked)?.unchecked ?? null;
  const { outcome, detail, lacks, busy } = worst(outcomes);
  const killed = outcomes.reduce((sum, one) => sum + (one.killed ?? 0), 0);
  return {
    outcome,
    detail,
    ...(lacks ? { lacks } : {}),
    ...(busy ? { busy } : {}),
    ...(killed > 0 ? { killed } : {}),
    known: null,
    unchecked,
    figures: figuresOf(turns),
  };
}
