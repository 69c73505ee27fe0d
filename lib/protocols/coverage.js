/**
 * Tables of what the rows cover: for each type of sing-box whether the run measured it, and for each protocol what it needs and
 * which variants have no row. The types are sing-box's, so only a sing-box side has such a table.
 */
import { sectionOf } from '../section.js';
import { programTitle } from './programs.js';

/**
 * @typedef {import('./result.js').Found} Found
 * @typedef {import('./result.js').SideResult} SideResult
 * @typedef {{ type: string, rows: string[], reason: string | null, instead: string | null }} Covered a type with the rows that
 *   cover it, or the reason why no row does; `instead` is what the rows measure in its place
 */

/** How a row ended, and whether it ran; null if it could not run, or was not reached. @param {SideResult} side */
function ended({ outcome, detail, known }) {
  if (outcome === 'measured') return { text: outcome, ran: true };
  const text = detail === null ? outcome : `${outcome} (${detail})`;
  if (outcome === 'errors') return { text, ran: known !== null };
  return { text, ran: ['impossible here', 'not reached'].includes(outcome) ? null : false };
}

/**
 * How the rows of a type ended, grouped by ending. `ok` is true if all rows that could run were measured, false if a row
 * failed, and null if no row could run.
 * @param {Covered} covered
 * @param {Map<string, SideResult>} sides by row
 */
function stateOf({ rows, reason, instead }, sides) {
  if (reason !== null) return { ok: null, text: `no row: ${reason}` };
  /** @type {Map<string, string[]>} */
  const endings = new Map();
  /** @type {boolean | null} */
  let ok = null;
  for (const row of rows) {
    const side = sides.get(row);
    const { text, ran } = side ? ended(side) : { text: 'not asked for', ran: null };
    if (ran !== null && ok !== false) ok = ran;
    endings.set(text, [...(endings.get(text) ?? []), row]);
  }
  const endingsText = [...endings].map(([ending, names]) => `${names.join(', ')}: ${ending}`).join('; ');
  return { ok, text: instead === null ? endingsText : `${endingsText}; it is ${instead}` };
}

/** @param {Found} found @param {'baseline' | 'candidate'} side */
function typesSection({ coverage, rows, ...found }, side) {
  const sides = new Map(rows.flatMap((row) => (row[side] ? [[row.row, row[side]]] : [])));
  const lines = /** @type {const} */ (['inbound', 'outbound']).flatMap((way) =>
    coverage[way].map((covered) => ({ way, type: covered.type, ...stateOf(covered, sides) })),
  );
  const sums = ['inbound', 'outbound'].map((way) => {
    const ofWay = lines.filter((line) => line.way === way);
    return `${ofWay.filter(({ ok }) => ok).length} of ${ofWay.length} ${way}s`;
  });
  return sectionOf({
    name: `coverage_${side}`,
    title: `Coverage of the types of sing-box, by ${programTitle(/** @type {import('./programs.js').Ran} */ (found[side]))}`,
    columns: [
      ['ok', '', 'ok'],
      ['name', 'Name', 'text', ({ way, type }) => `${way} ${type}`, { print: 'none' }],
      ['side', 'Side', 'text', ({ way }) => way],
      ['type', 'Type', 'text'],
      ['this_run', 'This run', 'text', ({ text }) => text],
    ],
    rows: lines,
    notes: [`Measured: ${sums.join(', ')}.`],
  });
}

/** @param {Found} found @returns {import('../section.js').Section[]} */
export function coverageSections(found) {
  const { inbound, protocols } = found.coverage;
  const sides = /** @type {const} */ (['baseline', 'candidate']).filter(
    (side) => inbound.length > 0 && found[side]?.engine === 'sing-box',
  );
  return [
    ...sides.map((side) => typesSection(found, side)),
    ...(protocols.length > 0
      ? [
          sectionOf({
            name: 'extent',
            title: 'What each protocol needs, and what of it has no row',
            columns: [
              ['protocol', 'Protocol', 'text'],
              ['rows', 'Rows', 'text', ({ rows }) => rows.join(', ')],
              ['needs', 'Needs', 'text'],
              [
                'left_out',
                'No row has, and why',
                'text',
                ({ left_out: leftOut }) => leftOut.join('; ') || null,
              ],
            ],
            rows: protocols,
          }),
        ]
      : []),
  ];
}
