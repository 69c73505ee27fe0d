/** Tables of traits: a row of the matrix a line. */
import { OF_HALF_CLOSE, isEarly } from '../dataplane/claims.js';
import { grouped, rangeOf, sectionOf } from '../section.js';
import { natWordsOf } from './nats.js';
import { programTitle } from './programs.js';

/**
 * @typedef {import('./traits.js').Traits} Traits
 * @typedef {import('./result.js').Found} Found
 * @typedef {{ row: string, result: import('./result.js').SideResult, traits: Traits | undefined }} Line
 */

/** A note on each row about which there is something to say. @param {Line[]} lines @param {(line: Line) => string | false | null | undefined} of */
const noteEach = (lines, of) =>
  lines.map((line) => {
    const text = of(line);
    return text && `${line.row}: ${text}.`;
  });

/** @param {Line} line */
const shareOf = ({ result }) => result.figures.granted_early_share?.median ?? null;

/** Why it is unknown whether a tunnel to nobody is granted; null: known, or not asked. @param {Line} line */
function unknownGrant({ traits }) {
  const nobody = traits?.nobody;
  return nobody && 'unknown' in nobody ? nobody.unknown : null;
}

/** @param {Line} line */
function earlyText(line) {
  const early = isEarly(line.traits?.nobody ?? null, shareOf(line));
  if (early === null) return unknownGrant(line) && 'unknown';
  return early ? 'early' : 'after the far end';
}

/** @type {import('../section.js').Column<Line>[]} */
const COLUMNS = [
  ['row', 'Protocol', 'text'],
  ['outcome', 'Outcome', 'text', ({ result }) => result.outcome],
  ['safe', 'Largest safe datagram', 'bytes', ({ traits }) => traits?.sizes?.safe, { digits: 0 }],
  ['beyond', 'One byte more', 'text', ({ traits }) => traits?.sizes?.fate],
  ['quic', 'QUIC needs 1,200', 'text', ({ traits }) => traits?.sizes && (traits.sizes.quic ? 'yes' : 'no')],
  ['nat', 'NAT', 'text', ({ row }) => natWordsOf(row).nat],
  ['idle_out', 'Idle life, out', 'text', ({ row }) => natWordsOf(row).out],
  ['idle_in', 'Idle life, in', 'text', ({ row }) => natWordsOf(row).back],
  ['half_close', 'Half-close', 'text', ({ traits }) => traits?.halfClose?.end],
  ['connect', 'CONNECT granted', 'text', earlyText],
  ['before', 'Granted before the far end accepts', 'share', shareOf],
  [
    'first_byte_ms',
    'First byte',
    'ms',
    ({ result }) => rangeOf(result.figures.handshake_ms),
    { digits: 2, print: 'value' },
  ],
];

/**
 * The table of all rows.
 * @param {Found} found
 * @param {Record<string, Record<string, { traits?: Traits }>>} notes by row and side
 */
export function traitsSection(found, notes) {
  /** @type {Line[]} */
  const lines = found.rows.map(({ row, baseline }) => ({
    row,
    result: baseline,
    traits: notes[row]?.baseline.traits,
  }));
  const sized = lines.filter(({ traits }) => traits?.sizes);
  const carry = sized.filter(({ traits }) => traits?.sizes?.quic);
  return sectionOf({
    name: 'traits',
    title: `Traits of each protocol: ${programTitle(/** @type {import('./programs.js').Ran} */ (found.baseline))}`,
    columns: COLUMNS,
    rows: lines,
    headline: { value: `${carry.length} of ${sized.length}`, of: 'rows carry the 1,200 bytes of QUIC' },
    notes: [
      ...noteEach(
        lines,
        ({ result: { outcome, detail } }) => outcome !== 'measured' && detail && `${outcome}: ${detail}`,
      ),
      ...noteEach(
        lines,
        ({ traits }) => traits?.halfClose?.detail && `half-close is unknown: ${traits.halfClose.detail}`,
      ),
      ...noteEach(lines, (line) => {
        const why = unknownGrant(line);
        return why && `whether tunnels to a port where nobody listens are granted is unknown: ${why}`;
      }),
      ...noteEach(
        lines,
        ({ traits }) => traits?.sizes?.known && `known of this program: ${traits.sizes.known}`,
      ),
      `Traits are reported, not judged; garbled payload is. A dash: the row carries no datagrams, or its client takes no address. Largest safe datagram: 1, 512, 1,200 and 1,472 bytes and the largest possible size were tried, then sizes between the largest that came back whole and the next one; ${grouped(65_497)} is all that the header of SOCKS leaves room for. QUIC: RFC 9000, 14.`,
      'NAT: the kind (RFC 3489, by the mapping and filtering of RFC 4787) and its type on consoles. Idle life: how long a mapping without datagrams still carried one out from the same source, and one in; only the idle times of the parameters were tried. Rows in namespaces are not asked.',
      OF_HALF_CLOSE,
      'CONNECT is granted early, or the client’s connection accepted in rows without SOCKS, if tunnels to a port where nobody listens are granted, or most tunnels of the run before a connection had reached the far end. First byte: median, from dialling the client to 64 bytes of the far end.',
    ],
  });
}

/**
 * The fate of the client's end in each row, a column a side.
 * @param {import('./matrix.js').Row[]} rows
 * @param {Record<string, Record<string, { halfClose?: import('./traits.js').HalfClose | null }>>} notes by row and side
 * @param {Pick<import('./sides.js').Side, 'name'>[]} sides
 */
export const halfCloseSection = (rows, notes, sides) =>
  sectionOf({
    name: 'half_close',
    title: 'What becomes of the client’s end (half-close)',
    columns: [
      ['row', 'Protocol', 'text'],
      ...sides.map(({ name }) => ({
        name,
        title: name === 'candidate' ? 'Candidate' : 'Baseline',
        unit: 'text',
        of: (/** @type {{ row: string }} */ { row }) => notes[row]?.[name]?.halfClose?.end,
      })),
    ],
    rows: rows.map(({ row }) => ({ row })),
    notes: [OF_HALF_CLOSE],
  });
