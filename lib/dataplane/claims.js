/**
 * The meaning of a proxy's answers: whether CONNECT is granted before the far end accepts (an early answer), and whether the client's
 * end (FIN) is passed on (half-close). Both are reported, and judge nothing.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { endsOf } from '../link.js';
import { ask, measure, measureAll, startEcho, stopEcho } from '../meter.js';
import { sectionOf } from '../section.js';
import { controlName } from './scenario.js';

/**
 * @typedef {{ target: string, proxy?: object | null, namespace?: object }} Reach how a probe reaches a far end
 * @typedef {'passes FIN' | 'closes both ways' | 'never passes FIN' | 'unknown'} End what becomes of the client's end
 * @typedef {{ end: End, detail: string | null }} HalfClose `detail`: why it is unknown
 * @typedef {{ asked: number, granted: number } | { unknown: string }} Nobody tunnels to a port where nobody listens
 * @typedef {import('../../types/sidecar.d.ts').Granted} Granted
 */

const TRIES = 10;
/** Kinds of a tunnel that the proxy refused or ended, so that it was not granted. Any other one says nothing about the proxy. */
const REFUSALS = [
  'socks_general_failure',
  'socks_not_allowed',
  'socks_network_unreachable',
  'socks_host_unreachable',
  'socks_connection_refused',
  'socks_ttl_expired',
  'socks_reply_other',
  'closed',
  'connection_reset',
];
/** A port on which nobody listens (tcpmux). */
const NOBODY = ':1';

/** Both answers of the far end come later by this, so that the client's end is there before, also on a busy machine. */
const DELAY_MS = 150;
/** The far end of a half-close: it answers the client's end, too. */
export const FAREWELL = { engine: 'events', faults: { delay_ms: DELAY_MS, tcp: { farewell: true } } };
const PATIENCE_MS = 3000;
/** Without a link, how long the end may take. Each run of a proxy that never passes the end on takes this long. */
const END_MS = 1000;

/** The spec of a probe that opens tunnels. @param {Reach} reach @param {Record<string, unknown>} spec */
const opening = ({ target, proxy, namespace }, spec) => ({
  kind: 'handshake',
  payload_bytes: 64,
  count: 1,
  handshake_timeout_ms: PATIENCE_MS,
  target,
  proxy: proxy ?? null,
  ...(namespace && { namespace }),
  ...spec,
});

/** @param {Reach} reach @param {Record<string, unknown>} spec */
const open = (reach, spec) => measure(opening(reach, spec));

const ENDS = /** @type {Record<string, End>} */ ({
  closed: 'closes both ways',
  connection_reset: 'closes both ways',
  stalled: 'never passes FIN',
});

/**
 * Sends a payload and the end to a far end with FAREWELL, on several ways at once.
 * @param {Reach[]} reaches
 * @param {boolean} overLink
 * @returns {HalfClose[]}
 */
export function halfClosesOf(reaches, overLink) {
  const spec = { half_close: true, timeout_ms: overLink ? PATIENCE_MS : END_MS };
  return measureAll(reaches.map((reach) => opening(reach, spec))).map((ended) => {
    if (!('error' in ended)) return { end: 'passes FIN', detail: null };
    const { kind, message } = ended.error;
    return kind in ENDS ? { end: ENDS[kind], detail: null } : { end: 'unknown', detail: message };
  });
}

/**
 * Opens tunnels to a port where nobody listens. Only what the proxy granted or refused counts. A tunnel that failed otherwise says nothing
 * about the proxy: after the first such tunnel no further one is tried, and without any grant the answer is unknown.
 * @param {Reach} reach its port is replaced
 * @returns {Nobody}
 */
export function grantsNobody(reach) {
  const target = nobodyAt(reach);
  let granted = 0;
  for (let asked = 0; asked < TRIES; asked += 1) {
    const ended = open({ ...reach, target }, { warmup: 0 });
    if (!('error' in ended)) granted += 1;
    else if (!REFUSALS.includes(ended.error.kind))
      return granted > 0 ? { asked, granted } : { unknown: ended.error.message };
  }
  return { asked: TRIES, granted };
}

/** @param {Pick<Reach, 'target'>} reach */
const nobodyAt = ({ target }) => target.replace(/:\d+$/, NOBODY);

/** In setup(): the same, if a direct connection to that port is refused. @param {import('./scenario.js').Plane<any>} plane */
function tryNobody(plane) {
  const target = plane.target('tcp', plane.proxied.far);
  const control = open({ ...plane.direct, target: nobodyAt({ target }) }, {});
  const refuses = 'error' in control && control.error.kind === 'connection_refused';
  say(
    'nobody',
    refuses
      ? grantsNobody({ ...plane.proxied, target })
      : { unknown: `${nobodyAt({ target })} does not refuse a connection` },
  );
}

/** @type {Record<string, Granted>} by operation, of this VU, the only one */
const granted = {};

/** Adds a probe's tunnels to the operation's. @param {string} operation @param {import('../meter.js').Measured | null} measured */
function addGranted(operation, measured) {
  const found = measured?.outcome.granted;
  if (!found) return;
  const { tunnels = 0, before_far_end: before = 0 } = granted[operation] ?? {};
  granted[operation] = { tunnels: tunnels + found.tunnels, before_far_end: before + found.before_far_end };
  say('granted', granted);
}

/** The share of tunnels that were granted early; null: unknown. @param {Granted | null | undefined} found */
export const earlyShare = (found) => (found ? found.before_far_end / found.tunnels : null);

/** Whether a proxy's grants are early answers. @param {Nobody | null} nobody @param {number | null} share of the run's tunnels @returns {boolean | null} null: unknown */
export function isEarly(nobody, share) {
  if (nobody && 'granted' in nobody && nobody.granted > 0) return true;
  if (share !== null) return share > 1 / 2;
  return nobody && 'granted' in nobody ? false : null;
}

/** @param {string} operation its tunnels are shown */
function earlySection(operation) {
  const { nobody = null, granted: all = {} } = said();
  const early = isEarly(nobody, earlyShare(all[operation]));
  const unknown = nobody && 'unknown' in nobody ? nobody.unknown : null;
  const ofRun = (/** @type {string} */ tunnels, /** @type {Granted | undefined} */ found) =>
    found ? [{ tunnels, asked: found.tunnels, before: found.before_far_end }] : [];
  return sectionOf({
    name: 'early_answer',
    title: 'Tunnels granted before a connection had reached the far end',
    columns: [
      ['tunnels', 'Tunnels', 'text'],
      ['asked', 'Number', 'count'],
      ['before', 'Granted before', 'count'],
      ['share', 'Share', 'share', ({ asked, before }) => (asked > 0 ? before / asked : null)],
    ],
    rows: [
      ...(nobody && 'granted' in nobody
        ? [{ tunnels: 'To a port where nobody listens', asked: nobody.asked, before: nobody.granted }]
        : []),
      ...ofRun('Of the run, through the proxy', all[operation]),
      ...ofRun('Of the run, direct', all[controlName(operation)]),
    ],
    finding:
      early &&
      'The proxy answers CONNECT before the far end accepts: the time of CONNECT measures nothing, and the time to the first answer does.',
    notes: [
      'Reported, not judged. A tunnel of the run counts if the far end’s kernel had no new connection at the moment of the grant; the warm-up is included.',
      unknown && `Whether tunnels to a port where nobody listens are granted is unknown: ${unknown}.`,
    ],
  });
}

/** In setup(): sends a payload and the end, to a separate far end. @param {import('./scenario.js').Plane<any>} plane */
function tryHalfClose(plane) {
  const unknown = (/** @type {string} */ detail) => ({ end: 'unknown', detail });
  if (plane.environment.target.tcp) {
    const foreign = unknown('the far end is not Windtunnel’s');
    return say('half close', { proxied: foreign, direct: foreign });
  }
  const overLink = Boolean(plane.data.linkEnds);
  const ends = overLink ? endsOf(ask('GET', `/instances/${__ENV.INSTANCE}`), FAREWELL) : null;
  const far = ends
    ? ends.far
    : startEcho({ host: plane.address === 'ipv6' ? '::1' : '127.0.0.1', ...FAREWELL });
  const target = plane.target('tcp', far);
  const ways = [plane.direct, plane.proxied].map((via) => ({ ...via, target }));
  const [direct, proxied] = halfClosesOf(ways, overLink);
  stopEcho(far.id);
  const fails = direct.end !== 'passes FIN';
  return say('half close', {
    proxied: fails ? unknown(`it fails without the proxy: ${direct.detail ?? direct.end}`) : proxied,
    direct,
  });
}

export const OF_HALF_CLOSE =
  'Reported, not judged. The client sends a payload and its end (FIN), and the far end answers both after 150 ms. Passes FIN: both answers arrive. Closes both ways: the answer was cut. Never passes FIN: the far end did not see the end within 1 s, over a link 3 s.';

function halfCloseSection() {
  /** @type {{ proxied: HalfClose, direct: HalfClose } | undefined} */
  const found = said()['half close'];
  if (!found) return null;
  const { end } = found.proxied;
  return sectionOf({
    name: 'half_close',
    title: 'What becomes of the client’s end (half-close)',
    columns: [
      ['path', 'Path', 'text'],
      ['end', 'Half-close', 'text'],
      ['detail', 'Why unknown', 'text'],
    ],
    rows: [
      { path: 'Through the proxy', ...found.proxied },
      { path: 'Direct', ...found.direct },
    ],
    finding: end !== 'passes FIN' && end !== 'unknown' && `Half-close: the proxy ${end}.`,
    notes: [OF_HALF_CLOSE],
  });
}

/**
 * A check of a scenario of single operations.
 * @typedef {object} Check
 * @property {(plane: import('./scenario.js').Plane<any>) => void} tries called in setup()
 * @property {(operation: string, measured: import('../meter.js').Measured | null) => void} [after] called after each probe
 * @property {(operation: string) => import('../section.js').Section | null} section called in handleSummary
 */

/** @type {Check} */
export const EARLY_ANSWER = { tries: tryNobody, after: addGranted, section: earlySection };
/** @type {Check} */
export const HALF_CLOSE = { tries: tryHalfClose, section: halfCloseSection };
