/** Whether the CPUs that probe, far end and system were placed on were theirs alone. */
import { cpusOf } from './dataplane/environment.js';

/**
 * @typedef {{ cpu: number, span_s: number, busy_s: number, others_s: number, steal_s: number }} CpuUsage of one CPU while
 *   the measuring window ran: seconds that it was busy, that others than the run used, that the hypervisor took
 * @typedef {{ probe_cpus: string, echo_cpus: string, system_cpus: string }} Cpus lists such as 0-1; empty where not pinned
 */

/** Of one CPU's time: more, and what runs on it waits for others. */
const MOST_PERCENT = 10;
/** The kernel counts idle time in ticks of 0.01 s: a few of them are no neighbour. */
const LEAST_S = 0.05;

const percent = (/** @type {number} */ part, /** @type {number} */ whole) => (100 * part) / whole;
const one = (/** @type {number} */ value) => value.toFixed(1);

/** CPUs of a placement, none where nothing is pinned. @param {Cpus} placement */
const placedOn = ({ probe_cpus: probe, echo_cpus: echo, system_cpus: system }) =>
  new Set([probe, echo, system].flatMap(cpusOf));

/**
 * @param {CpuUsage[] | undefined} byCpu
 * @param {Cpus | undefined} placement
 * @returns {import('./validity.js').Check | undefined} undefined where nothing is pinned, or the sidecar did not look
 */
export function placementLoad(byCpu, placement) {
  if (!placement || !byCpu) return undefined;
  const placed = placedOn(placement);
  const seen = byCpu.filter(({ cpu, span_s: span }) => placed.has(cpu) && span > 0);
  if (seen.length === 0) return undefined;
  const disturbed = seen.filter(
    ({ span_s: span, others_s: others, steal_s: steal }) =>
      others + steal >= LEAST_S && percent(others + steal, span) > MOST_PERCENT,
  );
  const detail = seen
    .map(
      ({ cpu, span_s: span, others_s: others, steal_s: steal }) =>
        `CPU ${cpu}: ${one(percent(others, span))} % used by others, ${one(percent(steal, span))} % taken by the hypervisor`,
    )
    .join('; ');
  return {
    check: 'neighbours',
    kind: 'generator',
    ok: disturbed.length === 0,
    detail: `${detail}; at most ${MOST_PERCENT} %`,
  };
}
