/** Results of the scenario `udp/nat`: a table of behaviours. */
import { said } from 'k6/x/windtunnel/record';
import { sectionOf } from '../section.js';
import { NOTE } from './nat.js';
import { UNKNOWN, lifeOf, natOf, rfcWord, rounded } from './nat-words.js';

/**
 * @typedef {import('./nat-words.js').NatReport} NatReport
 * @typedef {import('./nat-words.js').Life} Life
 * @typedef {(report: NatReport) => string | null} Told null: unknown
 * @typedef {[what: string, found: Told, rfc?: Told | string | null, gamer?: Told]} Behaviour
 */

/** A relay that ends an association within this time does so at once, s. */
const AT_ONCE_S = 0.5;
/** The least life of a mapping (RFC 4787, REQ-5), s. */
const LEAST_LIFE_S = 120;

/** The words of a value; null if it is unknown. @param {string | boolean | null | undefined} value @param {Record<string, string>} words */
const worded = (value, words) => (value === null || value === undefined ? null : words[String(value)]);

const LOOPBACK = /^127\./;
const YES = { true: 'yes', false: 'no' };
const SENDER = { true: 'the true one', false: 'not always the true one' };
/** The filtering that lets a third party in. */
const ANYONE = 'endpoint_independent';
const REACHES = { true: 'reach the client', false: 'do not reach the client' };
const JOINS = { true: 'others can join', false: 'others cannot join by themselves' };

const MAPPING = {
  endpoint_independent: 'all far ends see one source',
  address_dependent: 'each address sees another source',
  address_and_port_dependent: 'each address and port sees another source',
  unstable: 'one far end sees several sources',
};
const FILTERING = {
  endpoint_independent: 'anyone may answer',
  address_dependent: 'only addresses that the client has sent to',
  address_and_port_dependent: 'only addresses and ports that the client has sent to',
  unstable: 'another address may answer, another port may not',
};
const PORT = {
  preserved: 'the client’s own port',
  relay: 'the port of BND.PORT',
  other: 'another port',
};
const BOUND = {
  proxy: 'the proxy’s address',
  unspecified: 'unspecified: the proxy’s address is meant',
  empty: 'an empty name: the proxy’s address is meant',
  domain: 'a name',
  other_family: 'an address of the other family',
  other_address: 'another address than the proxy’s',
};
const FROM = {
  relay: 'the relay',
  other_port: 'another port than the relay’s',
  other_address: 'another address than the relay’s',
};
const FRAGMENTS = {
  dropped: 'dropped',
  reassembled: 'reassembled',
  passed_on: 'passed on as whole datagrams',
  ends: 'they end the association',
};

/** @param {NatReport} report */
function boundOf({ bound }) {
  if (!bound) return null;
  const fails =
    bound.works === false ? '; datagrams do not come back from there, but from the proxy’s own' : '';
  return `${bound.address}, ${BOUND[bound.is]}${fails}`;
}

/** @param {NatReport} report */
function afterControlOf({ after_control: after }) {
  if (!after) return null;
  if (after.up && after.down) return `datagrams go on both ways, for at least ${rounded(after.watched_s)}`;
  if (after.up || after.down)
    return `datagrams go on ${after.up ? 'up' : 'down'} only, for at least ${rounded(after.watched_s)}`;
  const last = Math.max(after.up_s ?? 0, after.down_s ?? 0);
  return last < AT_ONCE_S ? 'the association ends at once' : `the association ends after ${rounded(last)}`;
}

/** The last datagrams after the control connection, by way. @param {NatReport} report */
function lastOf({ after_control: after }) {
  if (!after) return null;
  const last = (/** @type {number | null} */ s) => (s === null ? 'none' : `${Math.round(s * 1000)} ms`);
  return `up ${last(after.up_s)}, down ${last(after.down_s)}`;
}

/** @param {NatReport} report */
function closedOf({ after_control: after }) {
  if (!after) return null;
  const { relay_closed: relay, source_closed: source } = after;
  if (relay && source) return 'both are closed';
  if (relay || source) return relay ? 'the relay’s alone is closed' : 'the relay’s stays open';
  return 'both stay open';
}

/** The word of RFC 4787 on a life. @param {Life | null} life */
function judgedLife(life) {
  if (life?.forgotten_s && life.forgotten_s < LEAST_LIFE_S) return 'breaks REQ-5: at least 120 s';
  return (life?.kept_s ?? 0) >= LEAST_LIFE_S ? 'meets REQ-5: at least 120 s' : 'REQ-5: at least 120 s';
}

/** @param {Life | null} life */
const livedOf = (life) => (life ? lifeOf(life) : null);

/** @type {Behaviour[]} */
const BEHAVIOURS = [
  [
    'Mapping',
    ({ mapping }) => worded(mapping, MAPPING),
    ({ mapping }) => mapping && `${rfcWord(mapping)} mapping (RFC 4787, 4.1)`,
    ({ mapping }) => mapping && (mapping === ANYONE ? 'cone' : 'symmetric'),
  ],
  [
    'Filtering',
    ({ filtering }) => worded(filtering, FILTERING),
    ({ filtering }) => filtering && `${rfcWord(filtering)} filtering (RFC 4787, 5)`,
    (report) => natOf(report)?.kind ?? null,
  ],
  ['NAT type', (of) => natOf(of)?.kind ?? null, 'kinds of RFC 3489, 5', (of) => natOf(of)?.type ?? null],
  [
    'Datagrams of a third party',
    ({ filtering }) => worded(filtering && filtering === ANYONE, REACHES),
    null,
    ({ filtering }) => worded(filtering && filtering === ANYONE, JOINS),
  ],
  ['Sender in the header', ({ names_sender: right }) => worded(right, SENDER), 'RFC 1928, 7'],
  [
    'Hairpinning',
    ({ hairpinning }) => worded(hairpinning, YES),
    'RFC 4787, 6, REQ-9',
    ({ hairpinning }) => (hairpinning ? 'two players behind it meet' : null),
  ],
  [
    'Port that far ends see',
    ({ port }) => worded(port, PORT),
    ({ port }) => port && `${port === 'preserved' ? '' : 'no '}port preservation (4.2.1)`,
  ],
  [
    'Idle life, for datagrams to the client',
    ({ idle }) => livedOf(idle.inbound),
    ({ idle }) => judgedLife(idle.inbound),
  ],
  [
    'Idle life, for the source of the client',
    ({ idle }) => livedOf(idle.outbound),
    ({ idle }) => judgedLife(idle.outbound),
  ],
  [
    'Kept by the client’s datagrams alone',
    ({ idle }) => worded(idle.refreshed_by_outbound, YES),
    'outbound refresh (REQ-6)',
  ],
  [
    'Kept by the far end’s datagrams alone',
    ({ idle }) => worded(idle.refreshed_by_inbound, YES),
    'inbound refresh (4.3)',
  ],
  ['After the control connection', afterControlOf, 'RFC 1928, 7: the association ends'],
  ['Last datagram after it', lastOf],
  ['Ports after it, the relay’s and the far ends’ view', closedOf],
  ['BND.ADDR', boundOf, 'RFC 1928, 6'],
  ['Answers come from', ({ answers_from: from }) => worded(from, FROM), 'RFC 1928, 7'],
  [
    'Datagrams of another client address',
    ({ checks_client: checks }) => worded(checks, { true: 'dropped', false: 'relayed' }),
    'RFC 1928, 7: dropped',
  ],
  ['Fragments', ({ fragments }) => worded(fragments, FRAGMENTS), 'RFC 1928, 7: reassembled or dropped'],
  ['IPv6 target', ({ ipv6 }) => worded(ipv6, YES)],
  ['IPv4 and IPv6 over one association', ({ both_families: both }) => worded(both, YES)],
  ['Target by name', ({ domain }) => worded(domain, YES)],
];

/** The section of the run; null if nothing was found. @param {string[]} farEnds addresses */
export function natSection(farEnds) {
  /** @type {import('./nat.js').Found | undefined} */
  const found = said()[NOTE];
  if (!found?.proxied) return null;
  const { proxied, direct } = found;
  const nat = natOf(proxied);
  const lived = lifeOf(proxied.idle.inbound);
  return sectionOf({
    name: 'nat',
    title: 'Behaviour of a UDP association',
    columns: [
      ['what', 'Behaviour', 'text', ([what]) => what],
      ['found', 'Found', 'text', ([, of]) => of(proxied) ?? UNKNOWN],
      ['rfc', 'RFC', 'text', ([, , rfc]) => (typeof rfc === 'function' ? rfc(proxied) : rfc)],
      ['gamer', 'Gamers say', 'text', ([, , , gamer]) => gamer?.(proxied)],
      ['direct', 'Direct', 'text', ([, of]) => direct && of(direct)],
    ],
    rows: BEHAVIOURS,
    finding: nat
      ? `NAT type ${nat.type} (${nat.kind}). A mapping without datagrams lives ${lived}.`
      : `The NAT type is unknown. A mapping without datagrams lives ${lived}.`,
    answer: nat?.type ?? UNKNOWN,
    headline: {
      value: nat?.type ?? UNKNOWN,
      of: 'NAT type',
      detail: `${nat?.kind ?? UNKNOWN}, idle ${lived}`,
    },
    notes: [
      `Found by datagrams at far ends of Windtunnel on ${farEnds.join(' and ')}, and ${LOOPBACK.test(farEnds[0]) ? 'on ::1' : 'without one for IPv6 and for names, which are on loopback'}. Direct: the same without the proxy; it has no association. A refresh shows only if a mapping is forgotten. After the control connection: datagrams go both ways from its end on, for the longest idle time, or until none has come for the timeout.`,
    ],
  });
}
