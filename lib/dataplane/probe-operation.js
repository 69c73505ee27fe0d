/**
 * Records a probe's measurements as k6 samples: the metrics of lib/operations.js and these.
 *
 * | metric                       | type    | unit  | what                                             |
 * |------------------------------|---------|-------|--------------------------------------------------|
 * | operation_active_s           | counter | s     | time during which the probe measured, or the planned time of an open loop |
 * | operation_bytes              | counter | bytes | payload of the successes, one direction          |
 * | operation_probe_cpu_s        | counter | s     | CPU time of the probe's threads in that time     |
 * | operation_system_cpu_s       | counter | s     | CPU time of the system under test in that time   |
 * | operation_system_peak_bytes  | trend   | bytes | peak resident memory of the system, one sample per probe |
 * | operation_mbit_per_s         | trend   | Mbit/s | payload rate, one direction, one sample per probe |
 * | probes_cut                   | counter | count | probes that ended early                          |
 */
import { Operation, Counter, Trend } from 'k6/x/windtunnel/record';
import { isKind } from '../errors.js';

const active = new Counter('operation_active_s');
const bytes = new Counter('operation_bytes');
const probeCpu = new Counter('operation_probe_cpu_s');
const systemCpu = new Counter('operation_system_cpu_s');
const systemPeak = new Trend('operation_system_peak_bytes');
const rate = new Trend('operation_mbit_per_s');
const probesCut = new Counter('probes_cut');

/** @typedef {import('../errors.js').ErrorKind} ErrorKind */

/** Replaces unknown kinds, for which there is no explanation, by `network`. @param {Record<string, number>} counts */
export const knownErrors = (counts) =>
  Object.fromEntries(Object.entries(counts).map(([kind, count]) => [isKind(kind) ? kind : 'network', count]));

/** @type {Map<string, Operation>} of this VU */
const operations = new Map();

/** @param {string} name */
function recorderOf(name) {
  const found = operations.get(name) ?? new Operation(name);
  operations.set(name, found);
  return found;
}

/**
 * Records the latencies of one series of a probe.
 * @param {string} operation
 * @param {import('k6/x/windtunnel/record').Samples} measured
 * @param {string} [series]
 */
export function recordSeries(operation, measured, series = 'round_trip') {
  recorderOf(operation).samples(measured, series);
}

/** @param {string} operation @param {Record<string, number>} counts by kind */
export function recordErrors(operation, counts) {
  for (const [kind, count] of Object.entries(counts))
    if (count !== 0) recorderOf(operation).failures(kind, count);
}

/** @param {string} operation @param {Record<string, number>} counts by kind, such as duplicated */
function recordAnomalies(operation, counts) {
  for (const [kind, count] of Object.entries(counts)) recorderOf(operation).anomaly(kind, count);
}

/**
 * Records the far end's counts. A discarded part counts too, since the counts are evidence against the system.
 * @param {string} operation
 * @param {import('../meter.js').Outcome} outcome
 */
export function recordFarEnd(operation, { far_end: counts }) {
  if (counts !== undefined) recorderOf(operation).farEnd(counts);
}

/** Records the totals of a probe. @param {string} operation @param {import('../meter.js').Outcome} outcome */
export function recordUse(operation, outcome) {
  const tags = { operation };
  active.add(outcome.duration_s, tags);
  bytes.add(outcome.bytes, tags);
  probeCpu.add(outcome.probe_cpu_s, tags);
  if (outcome.duration_s > 0) rate.add((outcome.bytes * 8) / outcome.duration_s / 1e6, tags);
  if (!outcome.usage) return;
  systemCpu.add(outcome.usage.total.cpu_s, tags);
  systemPeak.add(outcome.usage.total.peak_rss_bytes, tags);
}

/** Records a probe that ended early. Its errors decide whether its part counts. */
export function recordCut() {
  probesCut.add(1);
}

/**
 * Records a probe that could not measure anything. All planned operations count as failed, and the planned time of an
 * open loop counts as passed: a single failure among thousands would stay within any bound.
 * @param {string} operation
 * @param {import('../meter.js').Nothing} ended
 */
export function recordNothing(operation, { error, planned }) {
  recordErrors(operation, knownErrors({ [error.kind]: planned.operations }));
  active.add(planned.seconds, { operation });
  recordCut();
  console.warn(`${operation}: ${error.message}`);
}

/**
 * Records everything of a probe except its latencies.
 * @param {string} operation
 * @param {import('../meter.js').Measured} measured
 */
export function recordRest(operation, measured) {
  const { outcome } = measured;
  recordErrors(operation, knownErrors(outcome.errors));
  recordAnomalies(operation, knownErrors({ ...outcome.anomalies }));
  recordFarEnd(operation, outcome);
  recordUse(operation, outcome);
  recorderOf(operation).lateness(measured);
  if (outcome.replaced)
    console.warn(
      `${operation}: the probe was stopped for a while: ${outcome.replaced} datagrams were sent again`,
    );
  if (outcome.other_source)
    console.warn(`${operation}: answers came from ${outcome.other_source}, which is not the relay`);
  if (!outcome.stopped) return;
  recordCut();
  console.warn(`${operation}: the probe ended early: ${outcome.stopped}`);
}
