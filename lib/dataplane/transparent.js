/** Probes and far ends on both sides of a transparent proxy, in the namespaces of its testbed. */
import { cpusOf } from './environment.js';
import { startEcho, stopEcho } from '../meter.js';
import { echoWait } from './far-end.js';

/** @typedef {{ through: import('../meter.js').Echo, routed: import('../meter.js').Echo }} FarEnds */

/**
 * Starts two far ends in an instance's namespace `server`: the path to one passes the proxy, the path to the other is
 * routed past the proxy.
 * @param {import('./environment.js').TransparentEnvironment} environment
 * @param {string} instance
 * @returns {FarEnds}
 */
export function startFarEnds({ through, routed, placement }, instance) {
  const echo = (/** @type {string} */ host) =>
    startEcho({
      host,
      namespace: { instance, name: 'server' },
      cpus: cpusOf(placement.echo_cpus),
      wait: echoWait(placement),
    });
  return { through: echo(through), routed: echo(routed) };
}

/** @param {FarEnds} ends */
export function stopFarEnds({ through, routed }) {
  for (const { id } of [through, routed]) stopEcho(id);
}

/**
 * The two paths to the far ends from the instance's namespace `client`.
 * @param {FarEnds} ends
 * @param {string} instance
 * @param {string | null} window of the run, in which a probe through the proxy is measured
 * @returns {{ proxied: import('./scenario.js').Via, direct: import('./scenario.js').Via }}
 */
export function viasOf({ through, routed }, instance, window) {
  const namespace = { instance, name: 'client' };
  return {
    proxied: { proxy: null, instance, usage_window: window, namespace, far: through },
    direct: { proxy: null, instance: null, usage_window: null, watched_by: window, namespace, far: routed },
  };
}
