/** Lets a panel's users move bytes through its Shadowsocks inbound, and reads what the panel says that they used. */
import http from 'k6/http';
import { sleep } from 'k6';
import { isAccepted } from '../answers.js';
import { recordNothing, recordRest, recordSeries } from '../dataplane/probe-operation.js';
import { measure, outcomeAtEnd, startEcho, startProbe, stop, stopEcho, tryAsk } from '../meter.js';
import { chargedTo, dueOf, settle } from '../users/accounting.js';
import { apart } from '../users/accounting-shown.js';
import { rowsOf } from '../users/charges.js';
import { inboundFor, keyOf } from './data-plane.js';
import { runPrefix } from './users.js';

/**
 * @typedef {import('../users/charges.js').Moved} Moved
 * @typedef {import('../users/traffic.js').Sizes & { restart_s: number }} Sizes
 * @typedef {{ what: string, due: number | null, kept: number | null, moved: number | null, ended: number | null }} Restart bytes: `due`
 *   of all users, `kept` what is charged afterwards, `moved` in mid-transfer; `ended`: connections that the restart ended. null: unknown
 * @typedef {{ rows: import('../users/charges.js').Row[], moved: Moved[], unknown: string[], delay_ms: number | null, restarts: Restart[],
 *   without_udp: string | null }} Figures `without_udp`: why users moved no UDP; null: they did
 * @typedef {{ tcp?: number[], udp?: number }} Part of a user's traffic: bytes of each connection, and of all datagrams
 */

const CONNECTION = 'connection';
const DATAGRAMS = 'datagrams';
const SHORT_BYTES = 8 * 1024;
const DATAGRAM_BYTES = 1200;
const STEADY_BYTES = 16 * 1024;
const STEADY_RATE = 90;
const STEADY_USERS = 3;
const AT_ONCE = 16;
/** Longest wait for the charges: Marzban writes them each 10 s, and may be slow, ms. */
const CHARGED_MOST_MS = 35_000;
const ASK_S = 0.1;
const RESTART_MOST_MS = 60_000;

/** @param {Sizes} sizes */
const shortOf = ({ short }) => Array.from({ length: short }, () => SHORT_BYTES);

/** Kinds of users, who take turns in the list. @type {Record<string, (sizes: Sizes, share: number) => Part>} */
const KINDS = {
  'one long connection': ({ long }, share) => ({ tcp: [Math.ceil(long * share)] }),
  'many short connections': (sizes) => ({ tcp: shortOf(sizes) }),
  'short and long connections': (sizes, share) => ({
    tcp: [Math.ceil((sizes.long * share) / 2), ...shortOf(sizes)],
  }),
  'datagrams of 1,200 B': ({ datagrams }, share) => ({ udp: Math.ceil(datagrams * share) * DATAGRAM_BYTES }),
  'TCP and UDP': ({ long, datagrams }, share) => ({
    tcp: [Math.ceil((long * share) / 8)],
    udp: Math.ceil(datagrams * share * 2) * DATAGRAM_BYTES,
  }),
  'one byte each by TCP and UDP': () => ({ tcp: [1], udp: 1 }),
  none: () => ({}),
};

/** A panel, with its inbound. */
class Charged {
  /**
   * @param {import('./panel.js').Panel} panel @param {any} session @param {string} inbound HOST:PORT
   * @param {import('../meter.js').Echo} echo
   */
  constructor(panel, session, inbound, echo) {
    this.panel = panel;
    this.session = session;
    this.inbound = inbound;
    this.echo = echo;
    const users = this.list() ?? stop(panel.unread || 'the panel does not list its users');
    this.users = users.sort((a, b) => (a.username < b.username ? -1 : 1));
    /** @type {Moved[]} */
    this.moved = this.users.map(({ username: name }, index) => ({
      name,
      traffic: Object.keys(KINDS)[index % Object.keys(KINDS).length],
      tcp: { up: 0, down: 0 },
      udp: { up: 0, down: 0 },
    }));
    /** Users with a failure: some of the bytes that they sent may not have arrived. @type {Set<string>} */
    this.unknown = new Set();
  }

  /** The run's users as the panel lists them. @returns {any[] | null} */
  list() {
    return this.panel.everyone(this.session, `${runPrefix(this.session.runId)}charged`);
  }

  /** Bytes that each user used, by the panel. @returns {Map<string, { total: number }> | null} null: unknown */
  read() {
    const all = this.list();
    if (!all || all.some(({ used_traffic: used }) => !Number.isInteger(used))) return null;
    return new Map(all.map(({ username, used_traffic: total }) => [username, { total }]));
  }

  /**
   * A probe with the users' own keys.
   * @param {string} kind @param {{ name: string, bytes?: number }[]} list
   * @param {{ udp?: boolean, seconds?: number, [field: string]: unknown }} more
   */
  spec(kind, list, { udp = false, seconds, ...more }) {
    const keys = new Map(this.users.map((user) => [user.username, keyOf(user)]));
    return {
      kind,
      target: udp ? this.echo.udp : this.echo.tcp,
      users: {
        ...inboundFor(this.inbound, this.users[0]),
        list: list.map((one) => ({ ...one, key: keys.get(one.name)?.password })),
        udp,
        ...(seconds ? { seconds } : {}),
      },
      ...more,
    };
  }

  /** Adds what a probe carried. @param {import('../meter.js').Outcome | null} outcome @param {'tcp' | 'udp'} transport */
  add(outcome, transport) {
    const byName = new Map(this.moved.map((one) => [one.name, one]));
    for (const { name, sent, received } of outcome?.users ?? []) {
      const ways = /** @type {Moved} */ (byName.get(name))[transport];
      ways.up += sent;
      ways.down += received;
    }
  }

  /**
   * Why users can move no UDP; null: they can. The kernel refuses a datagram to a port that nobody has. Any other failure counts.
   * @param {{ name: string } | undefined} user
   */
  whyWithoutUdp(user) {
    if (!user) return 'so few users have no such traffic';
    const measured = measure(
      this.spec('users', [{ name: user.name, bytes: 1 }], { udp: true, timeout_ms: 5000 }),
    );
    if ('error' in measured) {
      recordNothing(DATAGRAMS, measured);
      return 'the inbound could not be tried';
    }
    const { outcome } = measured;
    this.add(outcome, 'udp');
    if (outcome.succeeded === 1) return null;
    if (outcome.errors.connection_refused) return 'the inbound carries none';
    recordRest(DATAGRAMS, measured);
    return 'no datagram came back through the inbound';
  }

  /**
   * Moves bytes of users by one transport.
   * @param {string} operation @param {'tcp' | 'udp'} transport @param {{ name: string, bytes: number }[]} list
   */
  moveBy(operation, transport, list) {
    const limits = { connections: AT_ONCE, timeout_ms: 60_000, limit_s: 600 };
    const udp = transport === 'udp' ? { udp: true, payload_bytes: DATAGRAM_BYTES } : {};
    const measured = measure(this.spec('users', list, { ...limits, ...udp }));
    if ('error' in measured) {
      recordNothing(operation, measured);
      for (const { name } of list) this.unknown.add(name);
      return;
    }
    recordSeries(operation, measured, 'total');
    recordRest(operation, measured);
    this.add(measured.outcome, transport);
    for (const { name, error } of measured.outcome.users ?? []) if (error !== null) this.unknown.add(name);
  }

  /** Moves each user's bytes. @param {Sizes} sizes @returns {string | null} why users moved no UDP */
  move(sizes) {
    const parts = this.moved.map(({ name, traffic }, index) => ({
      name,
      ...KINDS[traffic](sizes, 1 / (1 + index / 8)),
    }));
    const connections = parts.flatMap(({ name, tcp = [] }) => tcp.map((bytes) => ({ name, bytes })));
    const datagrams = parts.flatMap(({ name, udp }) => (udp ? [{ name, bytes: udp }] : []));
    this.moveBy(CONNECTION, 'tcp', connections);
    const without = this.whyWithoutUdp(datagrams[0]);
    if (without === null) this.moveBy(DATAGRAMS, 'udp', datagrams);
    return without;
  }

  /** Users with known bytes, and what they moved. */
  known() {
    return this.moved.filter(({ name }) => !this.unknown.has(name));
  }

  /**
   * Restarts a part of the panel while users move bytes.
   * @param {string} what @param {Sizes & { right: boolean }} sizes `right`: charges were right before. Wrong ones show no loss
   * @param {() => import('k6/http').Response} again @param {(answer: any) => boolean} [accepts] whether the answer means success
   * @returns {Restart}
   */
  restart(what, { restart_s: seconds, right }, again, accepts = isAccepted) {
    const before = dueOf(this.known());
    const list = this.known()
      .slice(0, STEADY_USERS)
      .map(({ name }) => ({ name }));
    const id = startProbe(
      this.spec('steady', list, {
        seconds: 2 * seconds,
        payload_bytes: STEADY_BYTES,
        loop: { open: { rate_per_s: STEADY_RATE } },
        timeout_ms: 2000,
        keep: 1000,
      }),
    );
    sleep(seconds);
    const answer = again();
    if (!accepts(answer)) {
      tryAsk('DELETE', `/probes/${id}`);
      stop(`panel: the restart of the ${what}: HTTP ${answer.status}`);
    }
    /** @type {import('../meter.js').Outcome | null} */
    const outcome = outcomeAtEnd(id);
    this.add(outcome, 'tcp');
    const charges = right ? settle(() => this.read(), this.known(), CHARGED_MOST_MS, ASK_S).charges : null;
    const kept = chargedTo(charges, this.known());
    if (!outcome?.users) return { what, due: null, kept, moved: null, ended: null };
    const due = dueOf(this.known());
    const ended = outcome.users.filter(({ ended_s: at }) => at !== null).length;
    return { what, due, kept, moved: due - before, ended };
  }
}

/**
 * @param {import('./panel.js').Panel} panel @param {any} session @param {string} inbound @param {Sizes} sizes
 * @param {(settled: { from: number, at: number | null }) => void} record
 * @returns {Figures}
 */
export function accountPanel(panel, session, inbound, sizes, record) {
  const echo = startEcho({ host: '127.0.0.1', engine: 'events' });
  try {
    const charged = new Charged(panel, session, inbound, echo);
    const without_udp = charged.move(sizes);
    const unknown = [...charged.unknown];
    const settled = settle(() => charged.read(), charged.known(), CHARGED_MOST_MS, ASK_S);
    record(settled);
    const moved = charged.moved.map((one) => ({ ...one, tcp: { ...one.tcp }, udp: { ...one.udp } }));
    const rows = rowsOf(moved, settled.charges);
    const { PANEL_RESTART_URL: url, PANEL_RESTART_TOKEN: token } = __ENV;
    const more = { ...sizes, right: settled.at !== null };
    const isRestarted = (/** @type {any} */ answer) => panel.dialect.accepts('restart', answer);
    const restarts = [charged.restart('core', more, () => panel.restart(session), isRestarted)];
    if (url) {
      const params = { headers: { Authorization: `Bearer ${token}` }, timeout: RESTART_MOST_MS };
      restarts.push(charged.restart('panel', more, () => http.post(url, null, params)));
    }
    const delay = settled.at === null ? null : settled.at - settled.from;
    return { rows, moved, unknown, delay_ms: delay, restarts: apart(restarts), without_udp };
  } finally {
    stopEcho(echo.id);
  }
}
