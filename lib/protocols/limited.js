/** Effects of the limits of a run (LIMITS) on the processes of a row: throttled periods, peak memory, and kills for memory. */
import { rangeOf } from '../section.js';
import { JUDGED } from './footprint.js';
import { sideTable } from './side-table.js';

const MIB = 2 ** 20;

/**
 * @typedef {import('../../types/sidecar.d.ts').Limited} Limited
 * @typedef {{ limits?: Limited | null } | null} State of an instance; null: unknown
 * @typedef {import('./side-table.js').FoundRow} FoundRow
 */

/** @param {State} state */
const killsOf = (state) => state?.limits?.killed ?? 0;

/**
 * The outcome of what the kernel killed for memory: whatever the probes met, it is a consequence.
 * @template {{ outcome: string, detail: string | null }} Ended
 * @param {Ended} ended
 * @param {State[]} states of the instances
 */
export function withKills(ended, states) {
  const killed = states.reduce((sum, state) => sum + killsOf(state), 0);
  if (killed === 0) return ended;
  const text = states.find((state) => killsOf(state) > 0)?.limits?.text;
  const told = `${killed} ${killed === 1 ? 'time' : 'times'} at ${text}`;
  const detail = ended.detail === null ? told : `${told}; ${ended.detail}`;
  return { outcome: /** @type {const} */ ('killed for memory'), detail, killed };
}

/** Adds the effects of a quota since `from`. @param {import('./compare.js').Turn} figures @param {Limited} from @param {Limited} to */
function notePeriods(figures, from, to) {
  for (const name of /** @type {const} */ (['periods', 'throttled_periods', 'throttled_s']))
    figures[`limits_${name}`] = (figures[`limits_${name}`] ?? 0) + to[name] - from[name];
}

/** Adds the effects of a limit of memory. An unknown number of kills stays unknown. @param {import('./compare.js').Turn} figures @param {Limited} limits */
function noteMemory(figures, { killed, peak_memory_bytes: peak }) {
  const { limits_killed: before = 0 } = figures;
  figures.limits_killed = before === null || killed === null ? null : before + killed;
  if (peak !== null) figures.limits_peak_mib = Math.max(figures.limits_peak_mib ?? 0, peak / MIB);
}

/**
 * Adds the effects on a turn's instances to its figures: periods since each has started, and the highest peak.
 * @param {import('./compare.js').Turn} figures
 * @param {State[]} started
 * @param {State[]} ended
 */
export function noteLimits(figures, started, ended) {
  for (const [index, state] of ended.entries()) {
    const [from, to] = [started[index]?.limits, state?.limits];
    if (!from || !to) continue;
    if (to.cpu_percent !== null) notePeriods(figures, from, to);
    if (to.memory_bytes !== null) noteMemory(figures, to);
  }
}

/**
 * Both for a turn, at its end.
 * @param {Pick<import('./turn.js').Turn, 'figures' | 'instances'>} turn
 * @param {State[]} ended
 * @param {import('./outcome.js').Outcome} outcome of its probes
 * @returns {import('./outcome.js').Outcome}
 */
export function withLimits({ figures, instances }, ended, outcome) {
  noteLimits(figures, instances, ended);
  return withKills(outcome, ended);
}

const FIGURES = /** @type {const} */ ({
  limits_periods: { title: 'periods', unit: 'count' },
  limits_throttled_periods: { title: 'throttled periods', unit: 'count', ...JUDGED, least: 10 },
  limits_throttled_s: { title: 'throttled', unit: 's', digits: 2 },
  limits_peak_mib: { title: 'peak memory', unit: 'MiB', digits: 1, ...JUDGED, least: 1 },
  limits_killed: { title: 'kills for memory', unit: 'count' },
});

/** Kills in all turns, and at starts. @param {FoundRow} row @param {'baseline' | 'candidate'} side */
const killsIn = (row, side) => row[side]?.killed ?? (row[side]?.figures.limits_killed ? 0 : null);

/** A table for all sides, if the run has limits. @param {import('./result.js').Found} found */
export function limitsSections(found) {
  const { rows } = found;
  const both = /** @type {const} */ (['baseline', 'candidate']);
  /** @param {FoundRow} row @param {'baseline' | 'candidate'} side @param {string} name */
  const cellOf = (row, side, name) =>
    name === 'limits_killed' ? killsIn(row, side) : rangeOf(row[side]?.figures[name]);
  const names = Object.entries(FIGURES).filter(([name]) =>
    rows.some((row) => both.some((side) => cellOf(row, side, name) !== null)),
  );
  if (names.length === 0) return [];
  return [
    sideTable(found, {
      name: 'limits',
      title: 'Limits',
      figures: Object.fromEntries(names),
      of: cellOf,
      notes: [
        'Each side of a row has the limits for both of its ends together. A period is 100 ms in which they wanted to run; in a throttled one the quota stopped them. Start-up counts in memory alone, and many tunnels in all.',
      ],
    }),
  ];
}
