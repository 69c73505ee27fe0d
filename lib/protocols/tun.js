/** The TUN devices of rows that have one: what the kernel granted, beside what the row asked for. */
import { sectionOf } from '../section.js';
import { tryAsk } from '../meter.js';

/**
 * @typedef {import('../../types/sidecar.d.ts').Device} Device
 * @typedef {{ row: string, stack: string, side: string, mtu: number | null, gso: boolean | null }} Shown a device as a line of the
 *   table; null: unknown
 */

/** @param {import('./matrix.js').Row} row */
const hasTun = ({ variables }) => ['tun', 'tun2proxy'].includes(String(variables.inbound));

/**
 * The device of a started row; null if the row has none, or if the sidecar cannot tell.
 * @param {import('./matrix.js').Row} row
 * @param {string} id of the instance
 * @returns {Device | null}
 */
export const deviceOf = (row, id) =>
  hasTun(row) ? (tryAsk('GET', `/instances/${id}/tun`)?.devices[0] ?? null) : null;

/** The program or stack that handles the packets. @param {import('./matrix.js').Row} row */
const stackOf = ({ variables: { inbound, tun_stack: stack = 'mixed' } }) =>
  inbound === 'tun2proxy' ? 'tun2proxy' : String(stack);

/** @param {boolean | null} gso */
function gsoText(gso) {
  if (gso === null) return 'unknown';
  return gso ? 'on' : 'off';
}

/**
 * The table of devices; none if no row has one.
 * @param {import('./matrix.js').Row[]} rows
 * @param {import('./result.js').AllNotes} notes
 */
export function tunSections(rows, notes) {
  const lines = rows.filter(hasTun).flatMap((row) =>
    Object.entries(notes[row.row] ?? {}).map(([side, { tun }]) => ({
      row: row.row,
      stack: stackOf(row),
      side,
      mtu: tun?.mtu ?? null,
      gso: tun?.gso ?? null,
    })),
  );
  if (lines.length === 0) return [];
  return [
    sectionOf({
      name: 'tun',
      title: 'TUN devices',
      columns: [
        ['row', 'Protocol', 'text'],
        ['side', 'Side', 'text'],
        ['stack', 'Stack', 'text'],
        ['mtu', 'MTU', 'bytes', { digits: 0 }],
        ['gso', 'GSO', 'text', ({ gso }) => gsoText(gso)],
      ],
      rows: lines,
      notes: [
        "MTU and GSO are the kernel's, read in the first turn. GSO is on if kernel and program may exchange segments larger than the MTU (IFF_VNET_HDR).",
      ],
    }),
  ];
}
