/**
 * The memory that a proxy needs for each tunnel. A process rarely returns memory to the system. So each figure comes from
 * new processes that have opened only one tunnel before: the peak memory with all tunnels open and used, less the memory
 * with one tunnel.
 */
import { cpusOf } from './environment.js';
import { endsOf } from '../link.js';
import { findTestbed, proxyOf, stopFresh, withFresh } from './fresh.js';

/** With fewer tunnels, memory that a program allocates in one piece (an arena, a thread) outweighs the tunnels' memory. */
const LEAST_TUNNELS = 50;
/** Requests per tunnel while the peak memory is measured. */
const REQUESTS = 2;
const RATE_OF_ONE = 50;

/** @typedef {import('./fresh.js').Found} Found */

/** In setup(): null if no testbed runs the proxy, since its memory cannot be read. @returns {Found | null} */
export const findOwn = () => (__ENV.INSTANCE ? findTestbed() : null);

/** In teardown(). @param {Found | null} found */
export function stopOwn(found) {
  if (found) stopFresh(found);
}

/**
 * @param {import('./scenario.js').Plane} plane
 * @param {Found | null} found
 * @param {{ connections: number, payload_bytes: number, rate: number }} spec rate: requests per second of each tunnel
 * @returns {number | null} bytes of the proxy's own memory per tunnel; null: unknown
 */
export function bytesPerTunnel(plane, found, { connections, payload_bytes: payloadBytes, rate }) {
  if (!found || connections < LEAST_TUNNELS) return null;
  return withFresh(found, {}, (instance) => {
    const ends = endsOf(instance, { engine: 'events', cpus: cpusOf(plane.environment.placement.echo_cpus) });
    const at = ends ? { ...ends.near, far: ends.far } : {};
    const via = { proxy: proxyOf(instance), instance: instance.id, usage_window: null, ...at };
    /** @param {number} tunnels @param {number} perSecond of each */
    const measure = (tunnels, perSecond) => {
      const measured = plane.measure(via, {
        kind: 'concurrency',
        connections: tunnels,
        warmup: tunnels,
        loop: { open: { rate_per_s: perSecond * tunnels } },
        count: REQUESTS * tunnels,
        payload_bytes: payloadBytes,
        limit_s: 60,
      });
      const { usage, tunnels: opened } = 'error' in measured ? {} : measured.outcome;
      return usage && opened ? { bytes: usage.total.peak_anon_bytes, open: opened.open } : null;
    };
    const one = measure(1, RATE_OF_ONE);
    const all = one && measure(connections, rate);
    if (!one || !all || all.open < LEAST_TUNNELS) return null;
    return Math.max(0, (all.bytes - one.bytes) / (all.open - 1));
  });
}
