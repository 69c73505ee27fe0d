/** The tables of benchmark-runners and benchmark-kubernetes: figures of runners at each place. */
import { spreadOf } from '../../lib/spread.js';

/**
 * @typedef {object} Measured a run
 * @property {string} where
 * @property {any} record its run.json
 * @property {any} result of its scenario
 */

const FIGURES = /** @type {const} */ (['rate', 'p50', 'p95', 'p99']);
const HEAD = [
  '| runners | verdict | rate/s | P50 ms | P95 ms | P99 ms | rate, times the first | P50 | P95 | P99 | starts within ms | coordinator: CPU s of the load | of a core |',
  `|---|---|${'---:|'.repeat(11)}`,
];

/**
 * @typedef {object} Figures of a run: per second, ms, s, a share; undefined or null: too few samples
 * @property {string} verdict
 * @property {number} rate
 * @property {number | null} p50
 * @property {number | null} p95
 * @property {number | null} p99
 * @property {number | undefined} starts
 * @property {number | undefined} cpu
 * @property {number | undefined} core
 */

/** The compared figures of a run. @param {Measured} measured @returns {Figures} */
function figuresOf({ record, result }) {
  const [{ rate_per_s: rate, latency_ms: latency }] = result.operations;
  const starts = (result.runners ?? []).map((/** @type {any} */ { start_offset_ms: at }) => at);
  const { coordinator } = record.scenarios[0];
  return {
    verdict: result.verdict,
    rate,
    p50: latency.p50,
    p95: latency.p95,
    p99: latency.p99,
    starts: starts.length > 1 ? Math.max(...starts) - Math.min(...starts) : undefined,
    cpu: coordinator ? Number(coordinator.cpu_s) : undefined,
    core: coordinator ? coordinator.cpu_s / coordinator.load_s : undefined,
  };
}

/** @param {(number | null | undefined)[]} values */
export const median = (values) => spreadOf(values.map((value) => value ?? null))?.median;

/** @param {number | undefined} value @param {number} digits */
const cell = (value, digits) => (value === undefined ? '—' : value.toFixed(digits));

/** @param {number | undefined} share */
const percent = (share) => (share === undefined ? '—' : `${(100 * share).toFixed(2)} %`);

/** @param {number | null} value @param {number | null} of */
const ratio = (value, of) => (value === null || of === null ? null : value / of);

/** @param {string} where @param {Figures[]} runs @param {Figures[]} base */
function row(where, runs, base) {
  const starts = runs.flatMap((run) => run.starts ?? []);
  const cells = [
    where,
    [...new Set(runs.map(({ verdict }) => verdict))].toSorted().join(', '),
    ...FIGURES.map((figure) => cell(median(runs.map((run) => run[figure])), figure === 'rate' ? 0 : 1)),
    ...FIGURES.map((figure) =>
      cell(median(runs.map((run, index) => ratio(run[figure], base[index][figure]))), 2),
    ),
    starts.length > 0 ? `${cell(Math.min(...starts), 1)}–${cell(Math.max(...starts), 1)}` : '—',
    cell(median(runs.map(({ cpu }) => cpu)), 3),
    percent(median(runs.map(({ core }) => core))),
  ];
  return `| ${cells.join(' | ')} |`;
}

/**
 * The table of one load. Figures are medians; ratios are between runs of the same round.
 * @param {string} title
 * @param {Measured[]} measured
 * @param {string[]} places the base of the ratios first
 */
export function table(title, measured, places) {
  const of = (/** @type {string} */ where) => measured.filter((one) => one.where === where).map(figuresOf);
  const base = of(places[0]);
  const lines = places.map((where) => row(where, of(where), base));
  const reasons = measured.flatMap(({ where, result }) =>
    result.reasons.map((/** @type {any} */ { text }) => `- ${where}: ${text}`),
  );
  return [`### ${title}`, '', ...HEAD, ...lines, '', ...new Set(reasons), ''].join('\n');
}
