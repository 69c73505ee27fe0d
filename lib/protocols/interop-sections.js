/** Tables on compatibility: each client with each server, and the reasons of failures. */
import { sectionOf } from '../section.js';
import { programTitle } from './programs.js';

/**
 * @typedef {ReturnType<typeof import('./interop.js').interopOf>} Found
 * @typedef {Found['rows'][number]} FoundRow
 * @typedef {FoundRow['cells'][number]} Cell
 */

/** Mark of a hop that an observer can read. */
const PLAIN = 'plain';

/** @param {Cell} cell */
function mark({ outcome }) {
  if (outcome === 'interoperates') return true;
  if (outcome === 'impossible here' || outcome === 'not reached') return null;
  return outcome === 'not encrypted' ? PLAIN : false;
}

/** @param {Found} found */
export function interopSections({ programs, rows }) {
  const letters = Object.fromEntries(
    programs.map(({ name }, index) => [
      name,
      index < 26 ? String.fromCharCode(65 + index) : String(index + 1),
    ]),
  );
  const pairOf = (/** @type {Cell} */ { client, server }) => `${letters[client]}→${letters[server]}`;
  const cells = rows.flatMap((row) => row.cells);
  const tried = cells.filter(({ outcome }) => outcome !== 'impossible here');
  const well = tried.filter(({ outcome }) => outcome === 'interoperates');
  const faults = rows.flatMap((row) => faultsOf(row, pairOf));
  return [
    sectionOf({
      name: 'interop',
      title: 'Who understands whom',
      columns: [
        ['row', 'Protocol', 'text'],
        ...(rows[0]?.cells ?? []).map((cell, index) => ({
          name: `${letters[cell.client]}_to_${letters[cell.server]}`,
          title: pairOf(cell),
          unit: 'text',
          of: (/** @type {FoundRow} */ row) => mark(row.cells[index]),
        })),
      ],
      rows,
      headline: { value: `${well.length} of ${tried.length}`, of: 'pairs understand each other' },
      notes: [
        ...programs.map((program) => {
          const digest = program.sha256 ? `, SHA-256 ${program.sha256}` : '';
          return `${letters[program.name]}: ${programTitle(program)}${digest}.`;
        }),
        `X→Y: X is the client, Y the server. ✓: 30 round trips came back unchanged, and 30 datagrams if the protocol carries them; ✗: they did not; ${PLAIN}: the payload or the requested address was readable in a hop that must be encrypted; —: not tried.`,
      ],
    }),
    faults.length > 0
      ? sectionOf({
          name: 'interop_faults',
          title: 'What does not work, and what was not tried',
          columns: [
            ['row', 'Protocol', 'text'],
            ['pairs', 'Client→server', 'text'],
            ['outcome', 'Outcome', 'text'],
            ['detail', 'Reason', 'text'],
          ],
          rows: faults,
        })
      : null,
  ];
}

/** Groups the failed cells of a row by outcome and reason. @param {FoundRow} row @param {(cell: Cell) => string} pairOf */
function faultsOf({ row, cells }, pairOf) {
  const bad = cells.filter(({ outcome }) => outcome !== 'interoperates');
  const like = (/** @type {Cell} */ { outcome, detail }) =>
    bad.filter((other) => other.outcome === outcome && other.detail === detail);
  return bad
    .filter((cell) => like(cell)[0] === cell)
    .map((cell) => ({
      row,
      pairs: like(cell).map(pairOf).join(', '),
      outcome: cell.outcome,
      detail: cell.detail,
    }));
}
