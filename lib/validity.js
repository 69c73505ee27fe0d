/**
 * Whether a run's numbers can be believed, apart from whether they are good.
 * docs/numbers.md explains each check and its bound.
 */
import { PERCENTILES, carries, shareOf } from './percentiles.js';
import { aggregateOf, keyOf } from './threshold-words.js';

/**
 * @typedef {{ check: string, ok: boolean | null, detail: string, kind: import('./reasons.js').Kind }} Check `kind` is that
 *   of the reason where it is not ok
 * @typedef {import('./thresholds.js').Judged} Judged
 */

/** Less idle time than this share of all cores, and the generator competes with what it measures. */
const LEAST_IDLE_PERCENT = 5;
/** Of one core, on a full machine, that neither the testbed nor the generator used. */
const OTHERS_MOST_PERCENT = 50;
/** A control must be so many times as fast as what it controls, or the meter may be the limit. */
const HEADROOM = 1.2;
/** Lateness of an open loop may be this share of the p99 that it is part of, or this many ms where that is more. */
const LATENESS_SHARE = 0.5;
const LATENESS_FLOOR_MS = 5;
/** Arrivals are timed at the socket: late handling is not in the latency, but above this the generator is swamped. */
const HANDLING_MOST_MS = 250;

const GENERATOR_CPU = /** @type {const} */ ({ check: 'generator CPU', kind: 'generator' });

const one = (/** @type {number} */ value) => value.toFixed(1);

/** Of one core. @param {import('./sidecar.js').ProcessUsage[]} processes */
const percentOf = (processes) => processes.reduce((sum, { cpu_percent: percent }) => sum + percent, 0);

/** Of one core, on the whole machine. @param {import('./sidecar.js').Usage} usage @param {number} unseen */
function percentOfOthers({ host, processes, duration_s: seconds }, unseen) {
  return Math.max(0, host.busy_percent * host.cpus - percentOf(processes) - (100 * unseen) / seconds);
}

/**
 * The generator is the bottleneck where the machine had nothing left and the
 * generator took the larger part of it; so is anything else that took a large part.
 * @param {import('./sidecar.js').Usage | null} usage
 * @param {boolean} controlled whether the same load without the system tells what the generator can do
 * @param {number} unseen CPU seconds of systems under test that are not among the window's processes
 * @param {boolean} placed whether somebody else on the CPUs of the placement is told (lib/placement-load.js): then what
 *   happened on other CPUs is no matter
 * @returns {Check}
 */
export function generatorCpu(usage, controlled, unseen, placed) {
  const generators = usage?.processes.filter((process) => process.role === 'generator') ?? [];
  if (!usage || generators.length === 0)
    return { ...GENERATOR_CPU, ok: null, detail: 'not measured: no sidecar' };
  if (usage.duration_s === 0) return { ...GENERATOR_CPU, ok: null, detail: 'nothing was measured' };
  const { cpus, busy_percent: busy } = usage.host;
  const own = percentOf(generators);
  const others = placed ? 0 : percentOfOthers(usage, unseen);
  const full = 100 - busy < LEAST_IDLE_PERCENT;
  const names = generators.map((process) => process.name).join(' and ');
  const detail = `${names} used ${one(own)} % of one core; the ${cpus} cores were ${one(busy)} % busy`;
  if (full && others > OTHERS_MOST_PERCENT) {
    return {
      ...GENERATOR_CPU,
      kind: 'machine',
      ok: false,
      detail: `${detail}, ${one(others)} % of one core with something else`,
    };
  }
  return { ...GENERATOR_CPU, ok: controlled || !(full && own > (busy * cpus) / 2), detail };
}

/**
 * Where as much is sent as comes through, what the meter can do without the system bounds what it can
 * tell of the system. One round trip at a time has no such bound.
 * @param {{ operation: string, rate_ratio: number | null }} control
 * @param {boolean | undefined} saturates
 * @returns {Check | undefined}
 */
export function headroom({ operation, rate_ratio: ratio }, saturates) {
  if (!saturates || ratio === null || ratio === 0) return undefined;
  return {
    check: `generator headroom: ${operation}`,
    kind: 'generator',
    ok: ratio <= 1 / HEADROOM,
    detail: `direct it is ${(1 / ratio).toFixed(2)} times as fast; below ${HEADROOM} the meter, the far end or loopback may be the limit`,
  };
}

/**
 * The same of an operation that the system answers by itself, beside whose control a far end takes some of the meter's
 * CPU: what bounds it is the one CPU of the meter's thread.
 * @param {{ name: string, window_s: number, cpu?: { probe_s: number } } | undefined} row
 * @returns {Check | undefined}
 */
export function probeHeadroom(row) {
  if (!row?.cpu || row.window_s <= 0) return undefined;
  const share = row.cpu.probe_s / row.window_s;
  return {
    check: `generator headroom: ${row.name}`,
    kind: 'generator',
    ok: share <= 1 / HEADROOM,
    detail: `the probe used ${Math.round(100 * share)} % of its CPU; above ${Math.round(100 / HEADROOM)} % it may be the limit`,
  };
}

/**
 * A percentile of an open loop holds the generator's own lateness. Where that is more than half of it, it is not told.
 * @param {number} percentile ms
 * @param {number | undefined} lateness the same percentile of the lateness, ms
 */
export const toldApart = (percentile, lateness) => !lateness || lateness <= percentile * LATENESS_SHARE;

/**
 * A threshold that holds with the lateness in the percentile holds without it; one that does not cannot be judged
 * where the two cannot be told apart.
 * @param {{ name: string, loop: 'open' | 'closed', latency_ms: Record<string, number | null> | null }} row loop open:
 *   how late requests were sent. closed: how late arrivals were handled
 * @param {Record<string, number> | undefined} lateness
 * @param {Judged[]} judged
 * @returns {Check | undefined}
 */
export function generatorLateness({ name, loop, latency_ms: latency }, lateness, judged) {
  if (!lateness || lateness.count === 0) return undefined;
  const most =
    loop === 'open' ? Math.max(LATENESS_FLOOR_MS, (latency?.p99 ?? 0) * LATENESS_SHARE) : HANDLING_MOST_MS;
  const what = loop === 'open' ? 'sent' : 'arrivals handled';
  const hidden = PERCENTILES.filter(
    ([field, , share]) => loop === 'open' && latency?.[field] === null && carries(share, latency.count ?? 0),
  );
  const unclear = judged.filter(
    ({ operation, unit, ok, expression }) =>
      operation === name && unit === 'ms' && !ok && hidden.some(([, key]) => expression.startsWith(key)),
  );
  const told = [
    `${what} ${lateness['p(99)'].toFixed(3)} ms late at P99, at most ${most.toFixed(3)} ms allowed`,
    ...(hidden.length > 0
      ? [`more than half of ${hidden.map(([, key]) => aggregateOf(key)).join(', ')}, not shown`]
      : []),
    ...unclear.map(
      ({ expression, required }) => `${aggregateOf(keyOf(expression))} ${required} cannot be judged`,
    ),
  ];
  return {
    check: `generator lateness: ${name}`,
    kind: 'generator',
    ok: lateness['p(99)'] <= most && unclear.length === 0,
    detail: told.join('; '),
  };
}

/** @param {number} dropped @returns {Check} */
export function droppedIterations(dropped) {
  const detail = dropped === 0 ? 'none' : `${dropped} iterations were never sent: no virtual user was free`;
  return { check: 'dropped iterations', kind: 'dropped', ok: dropped === 0, detail };
}

/**
 * A percentile that its samples cannot carry is not shown; a threshold on one cannot be judged.
 * @param {string} operation
 * @param {number} samples
 * @param {Judged[]} judged
 * @returns {Check}
 */
export function sampleCount(operation, samples, judged) {
  const weak = judged.filter((line) => {
    const share = line.operation === operation && line.unit === 'ms' ? shareOf(line.expression) : undefined;
    return share !== undefined && !carries(share, samples);
  });
  const check = /** @type {const} */ ({ check: `samples: ${operation}`, kind: 'samples' });
  if (weak.length > 0) {
    const percentiles = weak.map((line) => aggregateOf(keyOf(line.expression))).join(', ');
    return { ...check, ok: false, detail: `${samples} samples cannot carry a threshold on ${percentiles}` };
  }
  return { ...check, ok: samples > 0, detail: `${samples} samples` };
}

/** @param {number} plannedSeconds @param {number} seconds */
export const lastedAsPlanned = (plannedSeconds, seconds) => seconds >= plannedSeconds * 0.999;

/**
 * @param {number | undefined} planned iterations; undefined where time bounds the run
 * @param {number} done
 * @param {number} plannedSeconds
 * @param {number} seconds
 * @returns {Check}
 */
export function completeness(planned, done, plannedSeconds, seconds) {
  if (planned !== undefined) {
    const ok = done >= planned;
    return {
      check: 'complete',
      kind: 'interrupt',
      ok,
      detail: `${done} of ${planned} iterations${ok ? '' : ': ended early'}`,
    };
  }
  const ok = lastedAsPlanned(plannedSeconds, seconds);
  return {
    check: 'complete',
    kind: 'interrupt',
    ok,
    detail: `${one(seconds)} s of ${one(plannedSeconds)} s${ok ? '' : ': ended early'}`,
  };
}

/**
 * Iterations that account for what they did at their end, such as for lost messages.
 * @param {number} begun
 * @param {number} done
 * @returns {Check | undefined}
 */
export function roundsFinished(begun, done) {
  if (begun === 0) return undefined;
  const cut = Math.max(0, begun - done);
  const detail =
    cut === 0 ? 'all rounds ended' : `${cut} of ${begun} rounds were cut off and not accounted for`;
  return { check: 'rounds', kind: 'rounds', ok: cut === 0, detail };
}

/**
 * @param {number | undefined} cut probes that ended before they had measured all
 * @returns {Check | undefined}
 */
export function probesWhole(cut) {
  if (cut === undefined) return undefined;
  const detail = cut === 0 ? 'all ran to their end' : `${cut} ended early: the log says why`;
  return { check: 'probes', kind: 'probe', ok: cut === 0, detail };
}

/**
 * An end before its start: the clock of WebSocket frames jumped.
 * @param {string} operation
 * @param {number | undefined} least ms
 * @returns {Check | undefined}
 */
export function clockSane(operation, least) {
  if (least === undefined || least >= 0) return undefined;
  return {
    check: `clock: ${operation}`,
    kind: 'clock',
    ok: false,
    detail: `a latency of ${least.toFixed(3)} ms: the wall clock jumped`,
  };
}

/** The check of the processes of the system under test. */
export const PROCESSES = 'processes';

/**
 * Of the system under test, and apart from it of what the testbed has besides, such as a database.
 * @param {import('./sidecar.js').Usage | null} usage
 * @returns {Check[]}
 */
export function processesAlive(usage) {
  if (!usage) return [];
  const kind = /** @type {const} */ ('process');
  const ended = (/** @type {string} */ role) =>
    usage.processes
      .filter((process) => process.role === role && process.exit !== null)
      .map(({ name, exit, exit_after_s: after }) => {
        const moment = typeof after === 'number' ? `${one(after)} s after the start` : 'in mid-run';
        return `${name} ended ${moment} (${exit})`;
      });
  const [system, support] = [ended('system'), ended('support')];
  if (system.length + support.length === 0)
    return [{ check: PROCESSES, kind, ok: true, detail: 'all alive to the end' }];
  return [
    { check: PROCESSES, ended: system },
    { check: 'support processes', ended: support },
  ]
    .filter(({ ended: names }) => names.length > 0)
    .map(({ check, ended: names }) => ({ check, kind, ok: false, detail: names.join(', ') }));
}

/** Whether the system under test ended by itself, or answered nothing any more. @param {Check[]} validity */
export const systemEnded = (validity) =>
  validity.some(({ check, kind, ok }) => ok === false && (check === PROCESSES || kind === 'system'));
