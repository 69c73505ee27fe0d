/** The request for the far end of a run. */
import { cpusOf, overlaps } from './environment.js';

/** A far end that polls would take CPU time from a probe on the same CPU. @param {import('./environment.js').Placement} placement */
export const echoWait = ({ wait, probe_cpus: probe, echo_cpus: echo }) =>
  overlaps(probe, echo) ? 'block' : wait;

/** The request for a run's far end. @param {{ echo?: 'blocking' | 'events' | 'web' }} definition @param {import('./environment.js').Placement} placement */
export const farEndOf = ({ echo = 'blocking' }, placement) => ({
  ...(echo === 'web' ? { web: true } : { engine: echo }),
  cpus: cpusOf(placement.echo_cpus),
  wait: echoWait(placement),
});
