/** Reloads a proxy that carries tunnels and takes new connections at a rate. */
import { sleep } from 'k6';
import { now } from '../clock.js';
import { outcomeAtEnd, startProbe, tryAsk } from '../meter.js';
import { START_MOST_MS, dials } from './controlled.js';
import { RulesProxy } from './rules.js';
import { operationOf, recorded } from './start.js';

/** Time before the reload, ms, and successful connections in a row that show its end. */
const BEFORE_MS = 300;
const BACK = 5;
/** Longest opening of all tunnels, ms, and the wait between two looks, s. */
const OPENING_MS = 60_000;
const TRY_S = 0.01;
/** Requests a second on each tunnel, and how long the tunnels last after the reload: in starts, and at least in s. */
const REQUESTS_PER_S = 20;
const STARTS = 3;
const LEAST_S = 1;
/** The longest flow that the sidecar makes, s. */
const FLOW_MOST_S = 600;
/** Longest wait for one new connection, and for a tunnel's answer, ms. A later answer counts as this. */
export const PATIENCE_MS = 3000;
/** The longest silence that the sidecar takes, ms. */
const STALL_MOST_MS = 60_000;

/**
 * @typedef {{ tunnels: number, rate: number }} Load `rate`: new connections a second
 * @typedef {{ from: number, ms: number, ok: boolean }} Dial `from`: its start on the test's clock, ms
 * @typedef {object} Reload of one turn of a level; null: not measured
 * @property {number} rules
 * @property {number} turn
 * @property {string} how signal or restart
 * @property {number} tunnels
 * @property {number | null} dropped tunnels that ended, or carried nothing any more, after the reload was asked for
 * @property {number | null} answer_ms Longest time to an answer over a tunnel that survived.
 * @property {Record<string, number>} ends Tunnels by how they ended.
 * @property {number} refused New connections that failed.
 * @property {number | null} refused_ms From the first of these to the next that succeeded; null: none did.
 * @property {number} dial_ms Longest time of a new connection that succeeded.
 */

/** Latency of a reload that refused nothing, ms. A comparison takes latencies of 0 for a fault of the measurement. */
const LEAST_MS = 0.001;

/**
 * Such as: 3 failures between the second and the sixth dial.
 * @param {Dial[]} all in order @param {string | null} [gone] why the program has ended @returns {number | null} ms; null: not back
 */
export function refusedMs(all, gone = null) {
  if (gone !== null) return null;
  const first = all.findIndex(({ ok }) => !ok);
  if (first < 0) return 0;
  const last = all.findLastIndex(({ ok }) => !ok);
  return last === all.length - 1 ? null : all[last + 1].from - all[first].from;
}

/** Dials at a rate. @param {RulesProxy} proxy @param {number} rate @param {(all: Dial[]) => boolean} isOver asked before each dial */
function dialUntil(proxy, rate, isOver) {
  /** @type {Dial[]} */
  const all = [];
  const began = now();
  while (!isOver(all)) {
    sleep(Math.max(0, began + (all.length * 1000) / rate - now()) / 1000);
    const from = now();
    const found = proxy.dialled(proxy.via, { ...dials(1), ...LIMITS });
    all.push({ from, ms: found?.ms ?? 0, ok: found !== null });
  }
  return all;
}

/**
 * Dials at a rate, and reloads in between, as long as the tunnels last, and until connections succeed. A proxy may drop tunnels before
 * it refuses connections, so that the end of all tunnels is not the end.
 * @param {RulesProxy} proxy @param {number} rate @param {number} seconds that the tunnels last @param {string} flow id of their probe
 */
function dialThrough(proxy, rate, seconds, flow) {
  const began = now();
  const before = dialUntil(proxy, rate, () => now() - began >= BEFORE_MS);
  const orderedAt = proxy.order();
  const reloaded = now();
  /** Dials until the tunnels' probe has ended. */
  let enough = Infinity;
  const after = dialUntil(proxy, rate, (all) => {
    if (now() - reloaded > START_MOST_MS) return true;
    if (all.length >= enough + BACK && all.slice(-BACK).every(({ ok }) => ok)) return true;
    // A look takes as long as a dial.
    if (all.length % BACK !== BACK - 1) return false;
    if (enough === Infinity && now() - began > seconds * 1000 && over(flow)) enough = all.length;
    return proxy.ended() !== null;
  });
  return { before, after, reloaded, orderedAt };
}

const LIMITS = { timeout_ms: PATIENCE_MS, handshake_timeout_ms: PATIENCE_MS };

/** @param {string} flow id of a probe */
const over = (flow) => tryAsk('GET', `/probes/${flow}`)?.state !== 'running';

/** Connections that the far end has had; null: it is not ours. @param {import('./rules.js').Plane} plane @returns {number | null} */
const atFarEnd = ({ data }) =>
  (data.echo && tryAsk('GET', `/echoes/${data.echo.id}`)?.tcp_connections) ?? null;

/**
 * A tunnel that stays open but carries nothing is dropped: no answer came in the second half of the time after the reload, nor later.
 * @param {number} seconds that the tunnels last @returns {number} whole ms, as the sidecar takes them
 */
export const stallMs = (seconds) => Math.min(STALL_MOST_MS, Math.ceil((seconds * 1000 - BEFORE_MS) / 2));

/** Opens tunnels that carry requests, and waits until all are open. @param {RulesProxy} proxy @param {number} tunnels @param {number} seconds @returns {string} the probe's id */
function openTunnels({ plane, via }, tunnels, seconds) {
  const spec = {
    kind: 'flow',
    connections: tunnels,
    warmup: 0,
    flow: { direction: 'neither', seconds, requests_per_s: REQUESTS_PER_S },
    limit_s: seconds + OPENING_MS / 1000,
    timeout_ms: PATIENCE_MS,
    stall_ms: stallMs(seconds),
  };
  const all = (atFarEnd(plane) ?? NaN) + tunnels;
  const id = startProbe(plane.specOf(via, spec));
  const began = now();
  while (Number(atFarEnd(plane)) < all && !over(id) && now() - began < OPENING_MS) sleep(TRY_S);
  return id;
}

/** @param {{ kind: string }[]} died @returns {Record<string, number>} */
function countsOf(died) {
  /** @type {Record<string, number>} */
  const ends = {};
  for (const { kind } of died) ends[kind] = (ends[kind] ?? 0) + 1;
  return ends;
}

/** The outstanding requests of dead tunnels are no `timeout`. @param {number} ms @param {Record<string, number>} errors */
const slowest = (ms, { timeout = 0 }) => (timeout > 0 ? PATIENCE_MS : ms);

/** Counts tunnels by their fate. @param {any} outcome @param {number} orderedAt ms since 1970 */
export function tunnelsOf(outcome, orderedAt) {
  if (!outcome?.flow) return { dropped: null, answer_ms: null, ends: {} };
  const { tunnels, began_unix_us: began } = outcome.flow;
  /** @type {{ kind: string, at_s: number }[]} */
  const died = tunnels.map((/** @type {any} */ tunnel) => tunnel.died).filter(Boolean);
  // A silent tunnel died at its last answer, which is a little earlier than the reload.
  const early = died.some(
    ({ kind, at_s }) => began / 1000 + at_s * 1000 + (kind === 'stalled' ? BEFORE_MS : 0) < orderedAt,
  );
  const trips = outcome.series.find((/** @type {any} */ { name }) => name === 'round_trip');
  return {
    dropped: early ? null : died.length,
    answer_ms: died.length < tunnels.length && trips ? slowest(trips.max_ns / 1e6, outcome.errors) : null,
    ends: countsOf(died),
  };
}

/**
 * @param {import('./rules.js').Plane} plane @param {number} rules @param {number} turn
 * @param {number} startMs how long a start with these rules takes @param {Load} load @returns {Reload}
 */
export function measureReload(plane, rules, turn, startMs, { tunnels, rate }) {
  const proxy = new RulesProxy(plane, rules, 'reload', `${rules}-rules-reload-${turn + 1}`);
  try {
    proxy.carries();
    const seconds = Math.min(FLOW_MOST_S, BEFORE_MS / 1000 + Math.max(LEAST_S, (STARTS * startMs) / 1000));
    const id = openTunnels(proxy, tunnels, seconds);
    const { before, after, reloaded, orderedAt } = dialThrough(proxy, rate, seconds, id);
    const found = tunnelsOf(outcomeAtEnd(id), orderedAt);
    const gone = proxy.ended();
    const refused_ms = refusedMs(after, gone);
    const operation = recorded(operationOf('back', rules));
    if (before.some(({ ok }) => !ok) || found.dropped === null)
      operation.failure('closed', reloaded, now(), 'connections failed before the reload');
    else if (refused_ms === null) operation.failure('timeout', reloaded, now(), gone ?? 'not back');
    else operation.success(reloaded, reloaded + Math.max(refused_ms, LEAST_MS));
    // A proxy need not keep tunnels, unless the environment says so.
    const bounds = plane.environment.thresholds.start?.[operation.name];
    if (bounds?.anomalies !== undefined)
      for (const [kind, count] of Object.entries(found.ends))
        operation.anomaly(/** @type {any} */ (kind), count, 'a tunnel ended by the reload');
    const refused = after.filter(({ ok }) => !ok).length;
    const dial_ms = Math.max(0, ...after.map(({ ms }) => ms));
    return {
      rules,
      turn,
      how: proxy.instance.outputs.FOOTPRINT_RELOAD,
      tunnels,
      ...found,
      refused,
      refused_ms,
      dial_ms,
    };
  } finally {
    proxy.end();
  }
}
