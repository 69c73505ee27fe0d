/** Lets the users of a server move bytes, reads what they were charged, and restarts the server in mid-transfer. */
import { sleep } from 'k6';
import { now } from '../clock.js';
import { noteLeft, notePeaks } from '../left-open.js';
import { ask, outcomeAtEnd, startProbe, tryAsk } from '../meter.js';
import { closeWindow, usageOf } from '../sidecar.js';
import { movedBy, rowsOf, totalOf } from './charges.js';
import { openGate } from './testbed.js';
import { addCounts, move, usersOf, viaOf } from './traffic.js';

/**
 * @typedef {import('./charges.js').Row} Row
 * @typedef {import('./charges.js').Moved} Moved
 * @typedef {import('./statistics.js').Statistics} Statistics
 * @typedef {import('../dataplane/scenario.js').Plane<{ base: import('./scale.js').Variables }>} Plane
 * @typedef {import('./traffic.js').Sizes & { restart_s: number }} Sizes restart_s: time before the restart, and after it
 * @typedef {{ due: number | null, kept: number | null, moved: number | null, open: number | null }} Restart bytes: `due` of all users,
 *   `kept` what is charged after the restart, `moved` in mid-transfer; `open`: share of an open connection's bytes that was charged already.
 *   null: unknown
 * @typedef {{ tcp: number, udp: number }} Wire bytes between client and server for a byte that the far end counted; NaN: not counted
 * @typedef {{ rows: Row[], moved: Moved[], unknown: string[], delay_ms: number | null, wire: Wire, restart: Restart | null }} Figures
 *   `delay_ms` null: not all charged in time
 */

/** Longest wait for the charges, ms, the wait between two questions, and the wait for charges that come late, s. */
const CHARGED_MOST_MS = 10_000;
const ASK_S = 0.02;
const LATE_S = 0.5;
const START_MOST_MS = 120_000;
const TRIP_BYTES = 16 * 1024;
/** Users that carry data when the server is killed. */
const OPEN_USERS = 3;

/** The charges of users together. @param {Map<string, import('./charges.js').Charged> | null} charges @param {Moved[]} users */
export const chargedTo = (charges, users) =>
  charges && users.reduce((sum, { name }) => sum + totalOf(charges.get(name) ?? { total: 0 }), 0);

/** @param {Moved[]} moved */
export const dueOf = (moved) => moved.reduce((sum, one) => sum + movedBy(one), 0);

/**
 * Asks for the charges until all are right, or one is too high, which no wait corrects. A later charge is too much, so it
 * asks again after a while.
 * @param {() => Map<string, import('./charges.js').Charged> | null} read
 * @param {Moved[]} moved @param {number} [mostMs] @param {number} [askS] time between two questions, s
 */
export function settle(read, moved, mostMs = CHARGED_MOST_MS, askS = ASK_S) {
  const from = now();
  let at = null;
  while (at === null && now() - from < mostMs) {
    const wrong = rowsOf(moved, read()).filter((row) => row.wrong);
    if (wrong.length === 0) at = now();
    else if (wrong.some(({ error }) => error !== null && error > 0)) break;
    else sleep(askS);
  }
  sleep(LATE_S);
  return { from, at, charges: read() };
}

/** The statistics of a server that may be down. @param {Statistics} statistics @param {string} address @param {string} engine */
function readAgain(statistics, address, engine) {
  const until = now() + CHARGED_MOST_MS;
  while (now() < until) {
    try {
      statistics.connect(address, engine);
      const found = statistics.read();
      if (found) return found;
    } catch {
      // It is not up yet.
    }
    sleep(ASK_S);
  }
  return null;
}

/**
 * Kills and starts the server while users move bytes.
 * @param {Plane} plane @param {Statistics} statistics @param {any} outputs @param {Moved[]} moved by users with known bytes
 * @param {number} seconds
 * @returns {Restart | null} null: the server took no order to restart
 */
function restart(plane, statistics, outputs, moved, seconds) {
  const users = moved.slice(0, OPEN_USERS);
  const before = chargedTo(statistics.read(), moved);
  const due = dueOf(moved);
  const spec = { kind: 'tcp', payload_bytes: TRIP_BYTES, count: 1_000_000, keep: 1000, warmup: 0 };
  const ids = users.map(({ name }) => {
    const via = { ...viaOf(outputs.USERS_LOGIN, name, plane), usage_window: null };
    const limits = { limit_s: 2 * seconds, timeout_ms: 1000, handshake_timeout_ms: 1000 };
    return startProbe(plane.specOf(via, { ...spec, ...limits }));
  });
  sleep(seconds);
  const done =
    ids.reduce((sum, id) => sum + (tryAsk('GET', `/probes/${id}`)?.done ?? NaN), 0) * 2 * TRIP_BYTES;
  const during = chargedTo(statistics.read(), moved);
  const order = openGate(plane, outputs);
  const counted = ids.map((id, index) => {
    const outcome = outcomeAtEnd(id);
    return outcome ? addCounts(users[index], 'tcp', outcome) : false;
  });
  if ('error' in order || order.outcome.succeeded !== 1) return null;
  const { engine } = plane.data.base;
  const again = readAgain(statistics, outputs.USERS_STATS, String(engine));
  sleep(LATE_S);
  const after = counted.every(Boolean) ? dueOf(moved) : null;
  return {
    due: after,
    kept: again && chargedTo(statistics.read(), moved),
    moved: after === null ? null : after - due,
    open: before === null || during === null || !(done > 0) ? null : Math.min(1, (during - before) / done),
  };
}

/**
 * @param {Plane} plane @param {Statistics} statistics @param {any} outputs @param {() => number} onWire bytes in the hop so far
 * @param {Sizes} sizes @param {(settled: { from: number, at: number | null }) => void} record
 * @returns {Figures}
 */
function through(plane, statistics, outputs, onWire, sizes, record) {
  statistics.connect(outputs.USERS_STATS, String(plane.data.base.engine));
  const users = usersOf(sizes);
  const moved = users.map((user) => user.moved);
  const wire = { tcp: NaN, udp: NaN };
  const failing = /** @type {const} */ (['tcp', 'udp']).flatMap((transport) => {
    const before = onWire();
    const failed = move(plane, outputs.USERS_LOGIN, users, transport);
    const bytes = moved.reduce((sum, one) => sum + one[transport].up + one[transport].down, 0);
    wire[transport] = (onWire() - before) / bytes;
    return failed;
  });
  const unknown = [...new Set(failing)];
  const known = moved.filter(({ name }) => !unknown.includes(name));
  const settled = settle(() => statistics.read(), known);
  record(settled);
  const rows = rowsOf(moved, settled.charges);
  const found = moved.map((one) => ({ ...one, tcp: { ...one.tcp }, udp: { ...one.udp } }));
  return {
    rows,
    moved: found,
    unknown,
    delay_ms: settled.at === null ? null : settled.at - settled.from,
    wire,
    // Wrong charges show no loss.
    restart: settled.at === null ? null : restart(plane, statistics, outputs, known, sizes.restart_s),
  };
}

/**
 * Starts a server whose users are charged, behind a tap that counts the bytes of the hop.
 * @param {Plane} plane @param {Statistics} statistics @param {Sizes} sizes @param {(settled: { from: number, at: number | null }) => void} record
 */
export function account(plane, statistics, sizes, record) {
  const { base } = plane.data;
  const tap = ask('POST', '/taps', { far: [] });
  const port = Number(tap.address.split(':').pop());
  const { users } = sizes;
  const variables = {
    ...base,
    users,
    charged: true,
    hop_port: port,
    cpus: plane.environment.placement.system_cpus,
  };
  try {
    const instance = ask('POST', '/testbeds/users/start', { log_name: 'charged', variables }, START_MOST_MS);
    const { id, versions } = instance;
    const window = tryAsk('POST', '/windows', { instance: id })?.id ?? null;
    try {
      ask('POST', `/taps/${tap.id}`, { target: instance.outputs.USERS_SERVER });
      const onWire = () => tryAsk('GET', `/taps/${tap.id}`)?.bytes ?? NaN;
      return through(plane, statistics, instance.outputs, onWire, sizes, record);
    } finally {
      closeWindow(window);
      notePeaks(id, usageOf(window));
      noteLeft([{ name: `${users} users`, id, versions }]);
      tryAsk('DELETE', `/instances/${id}`);
    }
  } finally {
    tryAsk('DELETE', `/taps/${tap.id}`);
  }
}
