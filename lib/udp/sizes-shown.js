/** Results of the scenario `udp/sizes`: the largest safe sizes, and the fate of each size. */
import { QUIC_BYTES } from '../dataplane/quic-size.js';
import { grouped, sectionOf } from '../section.js';
import { safeOf, triedSizes } from './sizes.js';

/** @typedef {import('./sizes.js').Tried} Tried */
/** @typedef {{ first: Tried, last: Tried }} Run sizes with the same outcome */

const NO_ROOM = 'no room for the SOCKS header';

/** @param {Tried} one */
const outcomeOf = ({ proxied, direct }) => ({
  back: proxied?.back ?? NO_ROOM,
  up: proxied?.up ?? null,
  down: proxied?.down ?? null,
  direct: direct.back,
});

/** Neighbours with the same outcome, as one. @param {Tried[]} all @returns {Run[]} */
function runsOf(all) {
  /** @type {Run[]} */
  const runs = [];
  for (const one of all) {
    const open = runs.at(-1);
    if (open && JSON.stringify(outcomeOf(open.last)) === JSON.stringify(outcomeOf(one))) open.last = one;
    else runs.push({ first: one, last: one });
  }
  return runs;
}

/** @param {Run} run */
const named = ({ first, last }) =>
  first === last ? grouped(first.bytes) : `${grouped(first.bytes)} to ${grouped(last.bytes)}`;

/** @param {Tried[]} all */
const tableOf = (all) =>
  sectionOf({
    name: 'sizes',
    title: 'Fate of each size',
    columns: [
      ['sizes', 'Bytes', 'text', named],
      ['from', 'From', 'bytes', ({ first }) => first.bytes, { digits: 0, print: 'none' }],
      ['to', 'To', 'bytes', ({ last }) => last.bytes, { digits: 0, print: 'none' }],
      [
        'tried',
        'Sizes tried',
        'count',
        ({ first, last }) => all.filter(({ bytes }) => bytes >= first.bytes && bytes <= last.bytes).length,
      ],
      ['back', 'Came back', 'text', ({ first }) => outcomeOf(first).back],
      ['up', 'Up', 'text', ({ first }) => outcomeOf(first).up],
      ['down', 'Down', 'text', ({ first }) => outcomeOf(first).down],
      ['direct', 'Direct', 'text', ({ first }) => outcomeOf(first).direct],
    ],
    rows: runsOf(all),
    notes: [
      `Sizes between those that were tried are not known. Each size was sent ${all[0]?.tries} times. Up: what the far end received, by its counts. Down: what came back of what the far end sent; empty if it sent nothing. Garbled: other bytes came back; the far end counts lengths, so that the way may be unknown.`,
    ],
  });

/** @param {Tried[]} all @param {'proxied' | 'direct'} path */
function safeRow(all, path) {
  const quic = all.find(({ bytes }) => bytes === QUIC_BYTES)?.[path];
  return {
    path: path === 'proxied' ? 'Through the proxy' : 'Direct',
    ...safeOf(all, path),
    quic: quic ? (quic.whole ? 'yes' : 'no') : null,
  };
}

/** The sections of the run; empty if nothing was tried. */
export function sizesSections() {
  const all = triedSizes();
  if (all.length === 0) return [];
  const [proxied, direct] = [safeRow(all, 'proxied'), safeRow(all, 'direct')];
  const quic = `QUIC needs 1,200: ${proxied.quic ?? 'unknown'}`;
  return [
    sectionOf({
      name: 'safe_size',
      title: 'Largest safe datagram',
      columns: [
        ['path', 'Path', 'text'],
        ['safe', 'Largest safe size', 'bytes', { digits: 0, compare: 'higher' }],
        ['broken', 'First size that failed', 'bytes', { digits: 0 }],
        ['quic', 'QUIC needs 1,200', 'text'],
      ],
      rows: [proxied, direct],
      finding: `${quic}. The largest safe datagram has ${grouped(proxied.safe)} bytes through the proxy, and ${grouped(direct.safe)} direct.`,
      answer: `${proxied.safe} bytes`,
      headline: { value: `${grouped(proxied.safe)} bytes`, of: 'largest safe datagram', detail: quic },
      notes: [
        'Safe: every size that was tried, up to this one, came back whole in all tries. QUIC needs 1,200 bytes (RFC 9000, 14).',
      ],
    }),
    tableOf(all),
  ];
}
