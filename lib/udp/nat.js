/** The behaviour of UDP associations, through the proxy and direct. */
import { say } from 'k6/x/windtunnel/record';
import { knownErrors, recordErrors, recordNothing } from '../dataplane/probe-operation.js';
import { controlName } from '../dataplane/scenario.js';
import { measure, measureAll } from '../meter.js';
import { NAT_TYPES, natOf } from './nat-words.js';

export const NOTE = 'behaviour of a UDP association';
/** Time for the parts that are not idle, s. */
const BESIDES_S = 30;

/**
 * @typedef {import('./nat-words.js').NatReport} NatReport
 * @typedef {{ proxied: NatReport | null, direct: NatReport | null }} Found null: no association could be opened
 */

/**
 * The spec of the probe.
 * @param {number[]} idleS idle times, tried side by side, s
 * @param {number} timeoutMs after which a datagram counts as lost
 * @param {string[]} [farEnds] addresses; default: the sidecar's
 */
export const natProbe = (idleS, timeoutMs, farEnds) => ({
  kind: 'nat',
  payload_bytes: 64,
  warmup: 0,
  timeout_ms: timeoutMs,
  nat: { idle_s: idleS, ...(farEnds && { far_ends: farEnds }) },
  limit_s: Math.max(0, ...idleS) + BESIDES_S,
});

/**
 * Asks for all behaviours, on both paths at the same time. Associations that carry nothing count as failed requests of the operation.
 * @param {import('../dataplane/scenario.js').Plane<any>} plane
 * @param {string} operation
 * @param {{ idleS: number[], timeoutMs: number, farEnds: string[], least: string }} of `least`: the worst NAT type that passes, or any
 */
export function measureNat(plane, operation, { idleS, timeoutMs, farEnds, least }) {
  const unwatched = { instance: null, usage_window: null, watched_by: null };
  const [proxied, direct] = measureAll(
    [plane.proxied, plane.direct].map((via) =>
      plane.specOf({ ...via, ...unwatched }, natProbe(idleS, timeoutMs, farEnds)),
    ),
  );
  const take = (/** @type {string} */ name, /** @type {import('../meter.js').Ended} */ ended) => {
    if ('error' in ended) {
      recordNothing(name, ended);
      return null;
    }
    recordErrors(name, knownErrors(ended.outcome.errors));
    return ended.outcome.nat ?? null;
  };
  const found = { proxied: take(operation, proxied), direct: take(controlName(operation), direct) };
  // Silence on a busy machine leaves the type unknown. Another try waits for no idle time.
  if (found.proxied && !natOf(found.proxied)) {
    const again = take(
      operation,
      measure(plane.specOf({ ...plane.proxied, ...unwatched }, natProbe([], timeoutMs, farEnds))),
    );
    if (again) Object.assign(found.proxied, { mapping: again.mapping, filtering: again.filtering });
  }
  say(NOTE, found);
  if (least === 'any') return;
  const nat = found.proxied && natOf(found.proxied);
  const accepted = NAT_TYPES.slice(0, NAT_TYPES.findIndex((type) => type === least) + 1);
  if (!nat || !accepted.includes(nat.type)) recordErrors(operation, { nat_strict: 1 });
}
