/** The far end of a run's probes: on loopback, or at the end of a link. */
import { endsOf, rttSeconds } from '../link.js';
import { stop } from '../execution.js';
import { ask, startEcho } from '../meter.js';
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

/**
 * Starts the far end on loopback.
 * @param {string} address its form
 * @param {number | undefined} destinations UDP addresses, if the form is ipv4; default 1
 * @param {object} spec
 */
export function startFarEnd(address, destinations, spec) {
  const host = address === 'ipv6' ? '::1' : '127.0.0.1';
  const several = { destinations: address === 'ipv4' ? (destinations ?? 1) : 1 };
  return { ...startEcho({ host, ...several, ...spec }), ...several };
}

/**
 * The ends of the link of the pair of programs that the bench started.
 * @param {string} link
 * @param {object} spec of the far end
 * @param {unknown} timeoutMs after which a datagram counts as lost; undefined: no timeout
 */
export function ownEnds(link, spec, timeoutMs) {
  const instance = __ENV.INSTANCE ? ask('GET', `/instances/${__ENV.INSTANCE}`) : null;
  const rttMs = instance?.link ? rttSeconds({ about: instance.link }) * 1000 : 0;
  if (rttMs >= Number(timeoutMs ?? Infinity))
    stop(
      `TIMEOUT_MS=${timeoutMs}: no answer comes back so soon over LINK=${link}, whose round trip takes ${rttMs} ms: set TIMEOUT_MS=${Math.ceil(3 * rttMs)} or more`,
    );
  const ends = instance && endsOf(instance, spec);
  return (
    ends ?? stop(`LINK=${link}: the proxy was not started over a link: run it by \`make\` or \`k6 x bench\``)
  );
}
