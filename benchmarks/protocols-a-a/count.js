/** Counts the judgements of the matrix on two sides that are the same program. */

const TARGETS = ['throughput', 'latency', 'memory', 'first reply'];

/**
 * @typedef {{ target: string, judged: string | null }} Line of a result's comparison; null: it has no target
 * @typedef {object} Run of a result
 * @property {string} verdict
 * @property {{ row: string, turns: number, comparison: Line[] }[]} compared
 *
 * @typedef {{ row: string, met: number, missed: number, uncertain: number, turns: number, untold: Record<string, number> }} Row
 *   judgements of all runs; `turns` is the largest number in a run, `untold` counts the targets that were not met
 * @typedef {{ runs: number, pass: number, fail: number, inconclusive: number, missing: number, rows: Row[] }} Count
 *   `missing` counts runs that missed a target
 */

/** Reads a result's table `comparison`. @param {any} result @returns {Run} */
export function runOf({ verdict, sections }) {
  const { columns, rows } = sections.find((/** @type {any} */ { name }) => name === 'comparison');
  const names = columns.map((/** @type {any} */ { name }) => name);
  const compared = rows.map((/** @type {any[]} */ row) => ({
    row: row[names.indexOf('row')],
    turns: row[names.indexOf('turns')],
    comparison: TARGETS.map((target) => ({
      target,
      judged: row[names.indexOf(`${target.replace(' ', '_')}_judged`)],
    })),
  }));
  return { verdict, compared };
}

/** @param {Line[]} comparison @param {string} as */
const of = (comparison, as) => comparison.filter(({ judged }) => judged === as).length;

/** @param {Run[]} runs @returns {Count} */
export function count(runs) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const { row, turns, comparison } of runs.flatMap(({ compared }) => compared)) {
    const entry = rows.get(row) ?? { row, met: 0, missed: 0, uncertain: 0, turns: 0, untold: {} };
    rows.set(row, entry);
    entry.met += of(comparison, 'met');
    entry.missed += of(comparison, 'missed');
    // A throughput that is bound is undecided too.
    entry.uncertain += of(comparison, 'uncertain') + of(comparison, 'bound');
    entry.turns = Math.max(entry.turns, turns);
    for (const { target, judged } of comparison)
      if (judged !== null && judged !== 'met') entry.untold[target] = (entry.untold[target] ?? 0) + 1;
  }
  const ended = (/** @type {string} */ as) => runs.filter(({ verdict }) => verdict === as).length;
  return {
    runs: runs.length,
    pass: ended('pass'),
    fail: ended('fail'),
    inconclusive: ended('inconclusive'),
    missing: runs.filter(({ compared }) => compared.some((row) => of(row.comparison, 'missed') > 0)).length,
    rows: [...rows.values()],
  };
}
