/** Pages and downloads by HTTP/3 over QUIC and by HTTP/2 over TLS over TCP, through the proxy and direct. */
import { controlName } from '../dataplane/scenario.js';
import { patient } from '../link.js';
import { listOf, note } from '../notes.js';
import { figureOf, sectionOf } from '../section.js';
import { envCount } from '../variables.js';

/** Versions of HTTP. @typedef {'h3' | 'h2'} Http */
export const HTTPS = /** @type {const} */ (['h3', 'h2']);
export const TITLES = { h3: 'HTTP/3', h2: 'HTTP/2' };

/** A page: a document and further objects, which are requested at once when the document is here. */
export const PAGE = { bytes: 32 * 1024, objects: 16 };
/** Times for loopback; a link adds round trips. The sidecar allows at most a minute. */
const TIMEOUTS = { handshake_timeout_ms: 2000, timeout_ms: 30_000 };
const TIMEOUT_MOST_MS = 60_000;
const NOTE = 'QUIC';

/**
 * @typedef {import('../dataplane/scenario.js').Plane<any>} Plane
 * @typedef {NonNullable<import('../meter.js').Outcome['quic']>} Quic
 * @typedef {{ path: string, attempted: number, succeeded: number, error: string | null, quic: Quic | null }} Seen `path`: proxied,
 *   direct, or a row of the matrix
 */

/** @param {string} path @param {import('../meter.js').Ended} ended an HTTP/3 probe @returns {Seen} */
function seenOf(path, ended) {
  if ('error' in ended)
    return {
      path,
      attempted: ended.planned.operations,
      succeeded: 0,
      error: ended.error.message,
      quic: null,
    };
  const { attempted, succeeded, quic = null } = ended.outcome;
  return { path, attempted, succeeded, error: null, quic };
}

/** MiB of a download. @param {number} fallback */
export function downloadMib(fallback) {
  const mib = envCount('TRANSFER_MIB', fallback);
  if (mib > 64) throw `TRANSFER_MIB=${mib}: a download of this scenario has at most 64 MiB`;
  return mib;
}

/** Pages and downloads of a round. @param {{ pages: number, downloads: number }} of @param {number} mib @param {number} mtu */
export const loadsOf = ({ pages, downloads }, mib, mtu) => [
  { count: pages, fetch: PAGE, mtu },
  { count: downloads, fetch: { bytes: mib * 1024 * 1024, objects: 1 }, mtu },
];

/**
 * The same fetch by both versions, each through the proxy and direct, in alternating order.
 * @param {Plane} plane
 * @param {number} index of the round
 * @param {string} what page or download
 * @param {{ mtu: number, count: number, fetch: { bytes: number, objects: number } }} load
 * @param {(http: Http, direct: boolean) => string[]} operationsOf names of the operations, the fetch first
 * @param {{ path?: string } & import('../dataplane/scenario.js').Vias} [vias] default: the plane's; `path` names the proxied one
 */
export function fetchByBoth(
  plane,
  index,
  what,
  load,
  operationsOf,
  { path = 'proxied', proxied, direct } = plane,
) {
  const times = patient(TIMEOUTS, plane.data.link);
  const spec = {
    warmup: 0,
    handshake_timeout_ms: Math.min(times.handshake_timeout_ms, TIMEOUT_MOST_MS),
    timeout_ms: plane.data.link ? TIMEOUT_MOST_MS : times.timeout_ms,
    // Over a link, a fetch may take its whole timeout.
    ...(plane.data.link && { limit_s: (load.count * TIMEOUT_MOST_MS) / 1000 }),
    ...load,
  };
  const both = HTTPS.flatMap((http) => [
    { http, isDirect: true, via: direct },
    { http, isDirect: false, via: proxied },
  ]);
  const order = index % 2 === 0 ? both : both.reverse();
  plane.part(`${what}, round ${index + 1}`, () => {
    for (const { http, isDirect, via } of order) {
      const ended = plane.measure(via, { kind: http, ...spec });
      plane.recorded(operationsOf(http, isDirect), ended);
      if (http === 'h3') note(NOTE, seenOf(isDirect ? 'direct' : path, ended));
    }
  });
}

/** @param {Seen[]} all @param {'mtu_up' | 'mtu_down'} way */
function mtuOf(all, way) {
  const found = all.flatMap(({ quic }) => quic?.[way] ?? []);
  if (found.length === 0) return null;
  const [least, most] = [Math.min(...found), Math.max(...found)];
  return least === most ? String(most) : `${least} to ${most}`;
}

/** @param {Seen[]} all @param {(quic: Quic) => number} of */
const sumOf = (all, of) => all.reduce((sum, { quic }) => sum + (quic ? of(quic) : 0), 0);

/** In handleSummary, what the HTTP/3 probes of a path have seen; null: none has run. @param {string} path */
export function pathRow(path) {
  const own = /** @type {Seen[]} */ (listOf(NOTE)).filter((one) => one.path === path);
  if (own.length === 0) return null;
  const attempted = own.reduce((sum, one) => sum + one.attempted, 0);
  const whole = own.reduce((sum, { succeeded }) => sum + succeeded, 0);
  return {
    attempted,
    whole,
    works: whole > 0 ? (whole < attempted ? 'in part' : 'yes') : 'no',
    error: own.find(({ error }) => error)?.error ?? null,
    up: mtuOf(own, 'mtu_up'),
    down: mtuOf(own, 'mtu_down'),
    sent: sumOf(own, (quic) => quic.datagrams_sent),
    received: sumOf(own, (quic) => quic.datagrams_received),
    lost: sumOf(own, (quic) => quic.packets_lost),
  };
}

/** The latency of a fetch. */
export const FETCH = /** @type {const} */ ({
  latencyIs: 'from the begin of the connection to the last byte',
  series: 'total',
});
/** Columns of a row of pathRow(). @type {import('../section.js').Column<any>[]} */
export const FETCHED = [
  ['attempted', 'Fetches', 'count'],
  ['whole', 'Whole', 'count'],
  ['up', 'MTU up, bytes', 'text'],
  ['down', 'MTU down, bytes', 'text'],
];
export const MTU_NOTE =
  'MTU: the largest payload of a datagram that discovery (RFC 8899) has found by the end of a fetch; it begins at 1,200 and tries at most the parameter mtu. Up: by the client. Down: the largest datagram that came. A short fetch ends before the discovery does.';

/** The section that compares both versions. @param {{ title: string, operation: (http: Http) => string }[]} rows */
function besideEachOther(rows) {
  const p50 = (/** @type {string} */ operation, by = '') => figureOf(operation, 'p50_ms', by);
  return sectionOf({
    name: 'http',
    title: 'HTTP/3 beside HTTP/2, P50',
    columns: [
      ['what', 'What', 'text', ({ title }) => title],
      ['h3', 'HTTP/3', 'ms', ({ operation: of }) => p50(of('h3'))],
      ['h2', 'HTTP/2', 'ms', ({ operation: of }) => p50(of('h2'))],
      ['h3_by_h2', 'HTTP/3 by HTTP/2', 'times', ({ operation: of }) => p50(of('h3'), of('h2'))],
      ['h3_direct', 'HTTP/3, direct', 'ms', ({ operation: of }) => p50(controlName(of('h3')))],
      ['h2_direct', 'HTTP/2, direct', 'ms', ({ operation: of }) => p50(controlName(of('h2')))],
    ],
    rows,
    notes: [
      'Each page and each download opens a connection: through the proxy a UDP association or a tunnel, then the handshake, without 0-RTT. HTTP/2 is over TLS 1.3 over TCP.',
    ],
  });
}

/** The sections of the run; empty if nothing was tried. @param {Parameters<typeof besideEachOther>[0]} rows */
export function quicSections(rows) {
  const [proxied, direct] = [pathRow('proxied'), pathRow('direct')];
  if (!proxied || !direct) return [];
  const { works, error } = proxied;
  const detail = `largest datagram up: ${proxied.up ?? 'unknown'}, down: ${proxied.down ?? 'unknown'}`;
  return [
    sectionOf({
      name: 'quic',
      title: 'QUIC through the proxy',
      columns: [
        ['path', 'Path', 'text'],
        ...FETCHED,
        ['sent', 'Datagrams sent', 'count'],
        ['received', 'Datagrams received', 'count'],
        ['lost', 'Packets lost up', 'count'],
      ],
      rows: [
        { path: 'Through the proxy', ...proxied },
        { path: 'Direct', ...direct },
      ],
      finding: `QUIC works through the proxy: ${works}. ${error ? `${error}.` : `MTU found, payload of UDP: ${detail}.`}`,
      answer: works,
      headline: {
        value: works,
        of: 'QUIC through the proxy',
        detail: works === 'no' ? (error ?? '') : detail,
      },
      notes: [MTU_NOTE],
    }),
    besideEachOther(rows),
  ];
}
