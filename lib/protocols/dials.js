/** Clients that dial when they start, and refuse all until they have got through. */
import { sleep } from 'k6';
import { cpusOf } from '../dataplane/environment.js';
import { measure } from '../dataplane/meter.js';
import { entryOf } from './way.js';

const TRIES = 60;
const PAUSE_S = 0.05;

/**
 * Until a round trip goes through, three seconds at least; one that never does is told by what is measured next.
 * @param {Pick<import('./matrix.js').Row, 'dialsAtStart'>} row
 * @param {any} instance
 * @param {import('../dataplane/scenario.js').Plane} plane
 */
export function awaitTunnel({ dialsAtStart = false }, instance, plane) {
  for (let tries = dialsAtStart ? TRIES : 0; tries > 0; tries -= 1) {
    const tried = measure({
      kind: 'tcp',
      warmup: 0,
      count: 1,
      cpus: cpusOf(plane.environment.placement.probe_cpus),
      target: plane.target('tcp'),
      proxy: { address: entryOf(instance).address },
      timeout_ms: 1000,
      handshake_timeout_ms: 1000,
      limit_s: 2,
    });
    if ('outcome' in tried && tried.outcome.succeeded > 0) return;
    sleep(PAUSE_S);
  }
}
