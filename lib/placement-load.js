/** Whether the CPUs that probe, far end and system were placed on were theirs alone. */
import { cpusOf } from './dataplane/environment.js';

/**
 * @typedef {{ cpu: number, span_s: number, busy_s: number, others_s: number, steal_s: number }} CpuUsage of one CPU while
 *   the measuring window ran: seconds that it was busy, that others than the run used, that the hypervisor took
 * @typedef {{ at_unix_ms: number, span_s: number, cpus: { cpu: number, others_s: number, steal_s: number }[] }} Sample of a
 *   part of that time, up to a moment
 * @typedef {{ cpu: number | null, others_percent: number, steal_percent: number }} Disturbance of a CPU of the placement, or
 *   of all CPUs together, null, where nothing is pinned
 * @typedef {{ second: number } & Disturbance} Disturbed a second of the run, the first is 0
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

/** @param {{ span_s: number, others_s: number, steal_s: number }} time of one CPU */
const isDisturbed = ({ span_s: span, others_s: others, steal_s: steal }) =>
  others + steal >= LEAST_S && percent(others + steal, span) > MOST_PERCENT;

/** CPUs of all together, as of one. @param {CpuUsage[]} byCpu */
function together(byCpu) {
  const sum = (/** @type {(cpu: CpuUsage) => number} */ of) => byCpu.reduce((all, cpu) => all + of(cpu), 0);
  return {
    cpu: null,
    span_s: sum(({ span_s: span }) => span),
    others_s: sum(({ others_s: others }) => others),
    steal_s: sum(({ steal_s: steal }) => steal),
  };
}

/**
 * Who else used the CPUs of a placement, where it was more than may be. Where nothing is pinned any CPU may be the run's,
 * so that it is the share of all of them together.
 * @param {CpuUsage[]} byCpu
 * @param {Cpus | undefined} placement
 * @returns {Disturbance[]}
 */
export function disturbancesOf(byCpu, placement) {
  const placed = placement ? placedOn(placement) : new Set();
  const judged = placed.size > 0 ? byCpu.filter(({ cpu }) => placed.has(cpu)) : [together(byCpu)];
  return judged.filter(isDisturbed).map(disturbance);
}

/** @param {{ cpu: number | null, span_s: number, others_s: number, steal_s: number }} time @returns {Disturbance} */
const disturbance = ({ cpu, span_s: span, others_s: others, steal_s: steal }) => ({
  cpu,
  others_percent: Number(one(percent(others, span))),
  steal_percent: Number(one(percent(steal, span))),
});

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
  const disturbed = seen.filter(isDisturbed);
  const detail = seen
    .map(
      ({ cpu, span_s: span, others_s: others, steal_s: steal }) =>
        `CPU ${cpu}: ${one(percent(others, span))} % used by others, ${one(percent(steal, span))} % taken by the hypervisor`,
    )
    .join('; ');
  return {
    check: 'neighbours',
    kind: 'machine',
    ok: disturbed.length === 0,
    detail: `${detail}; at most ${MOST_PERCENT} %`,
  };
}

/**
 * The seconds of a run in which others used its CPUs.
 * @param {Sample[]} samples
 * @param {Cpus | undefined} placement
 * @param {number} startedAt ms since 1970
 * @returns {Disturbed[]}
 */
export function disturbedSeconds(samples, placement, startedAt) {
  /** @type {Map<number, Map<number, CpuUsage>>} */
  const seconds = new Map();
  for (const { at_unix_ms: at, span_s: span, cpus } of samples) {
    const second = Math.max(0, Math.floor((at - startedAt) / 1000));
    const sums = seconds.get(second) ?? new Map();
    for (const { cpu, others_s: others, steal_s: steal } of cpus) {
      const sum = sums.get(cpu) ?? { cpu, span_s: 0, busy_s: 0, others_s: 0, steal_s: 0 };
      sums.set(cpu, {
        ...sum,
        span_s: sum.span_s + span,
        others_s: sum.others_s + others,
        steal_s: sum.steal_s + steal,
      });
    }
    seconds.set(second, sums);
  }
  return [...seconds].flatMap(([second, sums]) =>
    disturbancesOf([...sums.values()], placement).map((found) => ({ second, ...found })),
  );
}
