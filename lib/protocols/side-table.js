/** A table with a line for each row of the matrix, and the same columns for each side. */
import { sectionOf } from '../section.js';

/**
 * @typedef {import('./result.js').Found['rows'][number]} FoundRow
 * @typedef {'baseline' | 'candidate'} SideName
 * @typedef {object} Table
 * @property {string} name
 * @property {string} title
 * @property {Record<string, Omit<import('../section.js').ColumnObject<FoundRow>, 'name' | 'of'>>} figures titles in lower case
 * @property {(row: FoundRow, side: SideName, figure: string) => import('../section.js').Cell} of
 * @property {string[]} notes
 */

/** A cell of a side that cannot run the row, or does not take part. Its figures are not unknown. */
const NO_FIGURE = '—';
const IMPOSSIBLE = 'impossible here';

/** @param {import('./result.js').Found} found @param {Table} table */
export function sideTable({ rows, candidate }, { figures, of, ...about }) {
  /** @type {SideName[]} */
  const sides = candidate ? ['baseline', 'candidate'] : ['baseline'];
  return sectionOf({
    ...about,
    columns: [
      ['row', 'Protocol', 'text'],
      ...sides.flatMap((side) =>
        Object.entries(figures).map(([name, { title, ...kind }]) => ({
          name: `${side}_${name}`,
          title: candidate ? `${side}: ${title}` : `${title.charAt(0).toUpperCase()}${title.slice(1)}`,
          ...kind,
          of: (/** @type {FoundRow} */ row) =>
            (row[side]?.outcome ?? IMPOSSIBLE) === IMPOSSIBLE ? NO_FIGURE : of(row, side, name),
        })),
      ),
    ],
    rows,
  });
}
