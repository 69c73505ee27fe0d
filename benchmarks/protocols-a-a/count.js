/** What the matrix said of two sides that are the same program. */

/**
 * @typedef {{ target: string, judged: string | null }} Line of a result's comparison; what has no target is null
 * @typedef {object} Run of a result
 * @property {string} verdict
 * @property {{ rows: { row: string, turns?: number, comparison: Line[] }[] }} protocols
 *
 * @typedef {{ row: string, met: number, missed: number, uncertain: number, turns: number, untold: Record<string, number> }} Row
 *   targets of all runs by what was said of them; `turns` is the most of a run, `untold` are the targets that were not met
 * @typedef {{ runs: number, pass: number, fail: number, inconclusive: number, missing: number, rows: Row[] }} Count
 *   `missing` are the runs that missed a target
 */

/** @param {Line[]} comparison @param {string} as */
const of = (comparison, as) => comparison.filter(({ judged }) => judged === as).length;

/** @param {Run[]} runs @returns {Count} */
export function count(runs) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const { row, turns = 0, comparison } of runs.flatMap(({ protocols }) => protocols.rows)) {
    if (comparison.length === 0) continue;
    const own = rows.get(row) ?? { row, met: 0, missed: 0, uncertain: 0, turns: 0, untold: {} };
    rows.set(row, own);
    own.met += of(comparison, 'met');
    own.missed += of(comparison, 'missed');
    // A throughput that is bound cannot be told either.
    own.uncertain += of(comparison, 'uncertain') + of(comparison, 'bound');
    own.turns = Math.max(own.turns, turns);
    for (const { target, judged } of comparison)
      if (judged !== null && judged !== 'met') own.untold[target] = (own.untold[target] ?? 0) + 1;
  }
  const ended = (/** @type {string} */ as) => runs.filter(({ verdict }) => verdict === as).length;
  return {
    runs: runs.length,
    pass: ended('pass'),
    fail: ended('fail'),
    inconclusive: ended('inconclusive'),
    missing: runs.filter(({ protocols }) => protocols.rows.some((row) => of(row.comparison, 'missed') > 0))
      .length,
    rows: [...rows.values()],
  };
}
