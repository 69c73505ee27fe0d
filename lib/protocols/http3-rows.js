/** Pages and downloads by HTTP/3 and HTTP/2 through rows of the matrix, each beside the same without a proxy. */
import { recordNothing } from '../dataplane/probe-operation.js';
import { said, say } from 'k6/x/windtunnel/record';
import { figureOf, sectionOf } from '../section.js';
import { FETCH, FETCHED, HTTPS, MTU_NOTE, TITLES, fetchByBoth, loadsOf, pathRow } from '../udp/quic.js';
import { comesInBySocks, withSides } from './instances.js';
import { operationOf } from './row-operation.js';
import { entryOf } from './way.js';

/**
 * @typedef {import('./matrix.js').Row} Row
 * @typedef {import('../udp/quic.js').Http} Http
 * @typedef {{ pages: number, downloads: number, mib: number, mtu: number }} Sizes of a turn
 */

/** @type {['page' | 'download', string][]} */
const FETCHES = [
  ['page', 'Page'],
  ['download', 'Download'],
];
/** The path without a proxy, in the place of a row. */
const DIRECT = 'direct';
const NOTE = 'rows that did not start';

/** @type {Record<string, string>} by row, of this VU, the only one */
const failures = {};

/** @param {string} row @param {string} what @param {Http} http */
const nameOf = (row, what, http) => `${row === DIRECT ? 'no_proxy' : operationOf(row)}_${what}_${http}`;

/** Why QUIC cannot be tried through a row; null: it can. @param {Row} row @param {import('./sides.js').Side} side @returns {string | null} */
export function withoutQuic(row, { engine }) {
  if (row.engines[engine] !== true) return row.engines[engine];
  if (!row.udp) return 'it carries no datagrams';
  if (!comesInBySocks(row)) return 'no SOCKS comes in';
  return row.dialsAtStart
    ? 'its client is ready only after a round trip, which a web server does not give'
    : null;
}

/** @param {Row[]} rows @param {Record<'page' | 'download', number>} least fetches of a row */
export const quicOperations = (rows, least) =>
  Object.fromEntries(
    [...rows.map(({ row }) => row), DIRECT].flatMap((row) =>
      FETCHES.flatMap(([what, title]) =>
        HTTPS.map((http) => [
          nameOf(row, what, http),
          {
            title: `${row === DIRECT ? 'no proxy' : row}, ${title.toLowerCase()} by ${TITLES[http]}`,
            ...FETCH,
            least: least[what],
            ...(row === DIRECT && { bounds: {} }),
          },
        ]),
      ),
    ),
  );

/**
 * One turn of a row, with new processes.
 * @param {import('../dataplane/scenario.js').Plane<any>} plane
 * @param {Row} row
 * @param {import('./sides.js').Side} side
 * @param {number} turn from 0
 * @param {Sizes} sizes
 */
export function measureQuic(plane, row, side, turn, sizes) {
  const loads = loadsOf(sizes, sizes.mib, sizes.mtu);
  const wanted = [{ row, side, logName: `${row.row}/${turn + 1}` }];
  /** @param {import('./instances.js').Started[]} sides */
  const use = ([up]) => {
    if ('failed' in up) {
      const { outcome, detail } = up.failed;
      failures[row.row] = detail ?? outcome;
      say(NOTE, failures);
      const message = `${row.row}: ${outcome}: ${detail}`;
      for (const [index, [what]] of FETCHES.entries())
        for (const http of HTTPS)
          recordNothing(
            nameOf(row.row, what, http),
            /** @type {any} */ ({
              error: { kind: 'network', message },
              planned: { operations: loads[index].count, seconds: 0 },
            }),
          );
      return;
    }
    const vias = viasOf(plane, up.started);
    for (const [index, [what]] of FETCHES.entries())
      fetchByBoth(
        plane,
        turn,
        `${row.row}, ${what}`,
        loads[index],
        (http, direct) => [nameOf(direct ? DIRECT : row.row, what, http)],
        { path: row.row, ...vias },
      );
  };
  withSides(wanted, plane, use, { web: true });
}

/** The paths through an instance and beside it. @param {import('../dataplane/scenario.js').Plane<any>} plane @param {any} started @returns {import('../dataplane/scenario.js').Vias} */
function viasOf({ data: { window } }, started) {
  const { ends } = started;
  const proxy = /** @type {import('../dataplane/environment.js').Proxy} */ ({
    address: entryOf(started).address,
  });
  return {
    proxied: {
      proxy,
      instance: started.id,
      usage_window: window,
      ...(ends && { ...ends.near, far: ends.home }),
    },
    direct: {
      proxy: null,
      instance: null,
      usage_window: null,
      watched_by: window,
      ...(ends && { ...ends.near, far: ends.far }),
    },
  };
}

/**
 * The section with a line for each row.
 * @param {Row[]} rows
 * @param {import('./sides.js').Side} side
 */
export function quicRowsSection(rows, side) {
  const notStarted = said()[NOTE] ?? {};
  const lines = [...rows, null].map((row) => {
    const name = row?.row ?? DIRECT;
    const why = row && (withoutQuic(row, side) ?? notStarted[name] ?? null);
    const seen = pathRow(name);
    return {
      name,
      tried: !row || withoutQuic(row, side) === null,
      ...(seen ?? { works: 'unknown' }),
      why: why ?? seen?.error,
    };
  });
  const proxied = lines.slice(0, -1).filter(({ tried }) => tried);
  const whole = proxied.filter(({ works }) => works === 'yes').length;
  /** @param {typeof FETCHES[number]} fetch @param {Http} http */
  const column = ([what, title], http) => ({
    name: `${what}_${http}`,
    title: `${title}, ${TITLES[http]}`,
    unit: /** @type {const} */ ('ms'),
    of: (/** @type {typeof lines[number]} */ { name, tried }) =>
      tried ? figureOf(nameOf(name, what, http), 'p50_ms') : null,
  });
  return sectionOf({
    name: 'quic_rows',
    title: 'QUIC through each row, P50',
    columns: [
      ['row', 'Row', 'text', ({ name }) => name],
      ['works', 'QUIC works', 'text', ({ works }) => works],
      ...FETCHES.flatMap((fetch) => HTTPS.map((http) => column(fetch, http))),
      ...FETCHED,
      ['lost', 'Packets lost up', 'count'],
      ['why', 'Reason', 'text'],
    ],
    rows: lines,
    finding: `QUIC works through ${whole} of ${proxied.length} rows.`,
    answer: String(whole),
    headline: {
      value: `${whole} of ${proxied.length}`,
      of: 'rows through which QUIC works',
      detail: side.engine,
    },
    notes: [
      'Each page and each download opens a connection: a UDP association or a tunnel, then the handshake, without 0-RTT. HTTP/2 is over TLS 1.3 over TCP. Direct: the same without a proxy, beside each row.',
      MTU_NOTE,
    ],
  });
}
