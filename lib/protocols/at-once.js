/** Runs several probes at once through the same instance. Each is a separate operation. */
import { cpusOf } from '../dataplane/environment.js';
import { measureAll } from '../meter.js';
import { recordNothing, recordRest, recordSeries } from '../dataplane/probe-operation.js';

/** @typedef {{ operation: string, series: string, spec: import('../meter.js').Spec & { limit_s: number } }} Probe */

/**
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {Probe[]} probes
 * @param {object} via
 */
export function measureAtOnce(plane, probes, via) {
  const { probe_cpus: cpus, wait } = plane.environment.placement;
  const common = { target: plane.target('tcp'), cpus: cpusOf(cpus), wait };
  const all = measureAll(probes.map(({ spec }) => ({ ...common, ...via, ...spec })));
  for (const [index, found] of all.entries()) {
    const { operation, series } = probes[index];
    if ('error' in found) {
      recordNothing(operation, found);
      continue;
    }
    recordSeries(operation, found, series);
    recordRest(operation, found);
  }
}
