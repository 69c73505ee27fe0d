/** Scenarios of single operations (round trips, handshakes), one after the other or at a rate. */
import { defaultNumber, envCount } from '../variables.js';
import { closedOf, openOf, openParameters, plannedOf, probeLoad, probeOf } from './load.js';
import { QUIC_SIZE } from './quic-size.js';
import { controlName, planeScenario, withControl } from './scenario.js';

/**
 * @typedef {object} SingleSpec
 * @property {string} name of the scenario
 * @property {string} title
 * @property {string} operation name of its row; the row of the open loop is NAME_open
 * @property {string} what title of the row
 * @property {string} latencyIs
 * @property {{ smoke: number, quick: number, full: number }} base
 * @property {string} countVariable
 * @property {number} p95 default bound, ms
 * @property {Record<string, string | number | boolean>} parameters
 * @property {Record<string, unknown>} probe kind and special fields
 * @property {(rate: number) => object} [openProbe] additional fields of the open loop
 * @property {Record<string, import('./scenario.js').PlaneOperation>} [stages] further rows, from other series of the probe
 * @property {string} [series]
 * @property {boolean} [againstControl] whether its P50 is compared with the control's P50
 * @property {import('./claims.js').Check} [check]
 * @property {boolean} [saturates] whether several operations are in flight
 */

/** @param {SingleSpec} spec */
export function singleOperations(spec) {
  const scenario = `dataplane/${spec.name}`;
  const load = probeLoad({ ...spec.base, rate: defaultNumber('RATE', scenario) }, spec.countVariable);
  const connections = envCount('CONNECTIONS', scenario);
  const closed = closedOf(load.rounds);
  const open = openOf(load.rounds);
  const total = plannedOf(load.rounds);
  const closedRow = {
    title: spec.what,
    latencyIs: spec.latencyIs,
    bounds: { 'p(95)': spec.p95 },
    least: total,
    series: spec.series,
    saturates: spec.saturates || connections > 1,
    headline: /** @type {const} */ ('p50'),
    againstControl: spec.againstControl,
  };
  const openName = `${spec.operation}_open`;
  const openRow = {
    ...closedRow,
    title: `${spec.what}, open loop`,
    loop: /** @type {const} */ ('open'),
    saturates: false,
    latencyIs: `${spec.latencyIs}, counted from the intended start`,
    least: 1,
  };
  const stages = closed.length > 0 ? (spec.stages ?? {}) : {};
  const overUdp = spec.probe.kind === 'udp';
  const check = overUdp ? QUIC_SIZE : spec.check;
  const script = planeScenario({
    name: spec.name,
    title: spec.title,
    load,
    connections,
    reaches: [overUdp ? 'udp' : 'tcp'],
    ...(check && { tries: check.tries, more: () => ({ sections: [check.section(spec.operation)] }) }),
    parameters: {
      ...(total > 0 ? { count: total, rounds: closed.length } : {}),
      ...openParameters(load.rounds),
      connections,
      ...spec.parameters,
    },
    operations: {
      ...(total > 0 ? withControl(spec.operation, closedRow) : {}),
      ...stages,
      ...(open.length > 0 ? withControl(openName, openRow) : {}),
    },
    round(round, index, plane) {
      if (round.loop === 'closed') {
        const names = [spec.operation, ...Object.keys(stages)];
        const probe = { ...spec.probe, connections, ...probeOf(round) };
        const pair = plane.pair(index, names, probe, [controlName(spec.operation)]);
        for (const [name, measured] of pair) check?.after?.(name, measured);
        return;
      }
      const probe = { ...spec.probe, ...spec.openProbe?.(round.rate), connections, ...probeOf(round) };
      plane.pair(index, [openName], probe);
    },
  });
  return script;
}
