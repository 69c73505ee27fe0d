/** Waits for clients that connect when they start, and refuse traffic until they are connected. */
import { sleep } from 'k6';
import { cpusOf } from '../dataplane/environment.js';
import { measure } from '../meter.js';
import { patient, rttSeconds } from '../link.js';
import { entryOf, reachThrough } from './way.js';

const MOST_MS = 5000;
const PAUSE_S = 0.05;

/**
 * Waits until a round trip succeeds. If none succeeds in time, the next measurement reports it.
 * @param {Pick<import('./matrix.js').Row, 'dialsAtStart'>} row
 * @param {any} instance
 * @param {import('../dataplane/scenario.js').Plane} plane
 */
export function awaitTunnel({ dialsAtStart = false }, instance, plane) {
  const until = Date.now() + MOST_MS;
  while (dialsAtStart && Date.now() < until) {
    const tried = measure({
      kind: 'tcp',
      warmup: 0,
      count: 1,
      cpus: cpusOf(plane.environment.placement.probe_cpus),
      ...reachThrough(instance, plane, 'tcp'),
      proxy: { address: entryOf(instance).address },
      ...patient({ timeout_ms: 1000, handshake_timeout_ms: 1000 }, plane.data.link),
      limit_s: 2 + rttSeconds(plane.data.link),
    });
    if ('outcome' in tried && tried.outcome.succeeded > 0) return;
    sleep(PAUSE_S);
  }
}
