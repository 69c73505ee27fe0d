/** A data-plane scenario: one virtual user asks the sidecar for one probe after the other and records the results in k6. */
import { listOf, note } from '../notes.js';
import { limitOver, linkOf } from '../link.js';
import { envChoice } from '../profiles.js';
import { ownScenario, stop } from '../execution.js';
import { defineScenario, isForeignTo } from '../scenario.js';
import { isOfLatency } from '../bounds.js';
import { cpusOf, loadPlane } from './environment.js';
import { farEndOf, ownEnds, startFarEnd } from './far-end.js';
import { SAMPLES_MOST, loadOfRound } from './load.js';
import { cancelProbes, measure, stopEcho } from '../meter.js';
import { recordNothing, recordRest, recordSeries } from './probe-operation.js';
import { checkFiles } from './open-files.js';
import { asksForLogin, unreached } from './reach.js';
import { Repeats, partsOf } from './repeats.js';

/** Unrecorded round trips, handshakes or datagrams before each probe. */
const WARMUP = 50;

/** Kinds of probes whose target is the far end's UDP port. */
const OVER_UDP = ['udp', 'dns', 'h3', 'associations'];

/** The same over a link, where each operation takes a round trip of the link. */
const WARMUP_OVER_LINK = 5;

/**
 * @typedef {import('../scenario.js').Operations & { series?: string }} PlaneOperation `series` of the probe that has its
 *   latencies; default round_trip
 *
 * @typedef {object} Via how a probe reaches its far end
 * @property {import('./environment.js').Proxy | null} proxy null: direct
 * @property {string | null} instance of the testbed whose CPU and memory use is measured
 * @property {string | null} usage_window window that adds up the run's use
 * @property {string | null} [watched_by] window that watches other programs' CPU use, if it is a different one
 * @property {{ instance: string, name: string }} [namespace] network namespace of the probe
 * @property {import('../meter.js').Echo} [far] the far end, if it is not the run's
 *
 * @typedef {{ proxied: Via, direct: Via }} Vias
 * @typedef {{ echo: import('../meter.js').Echo | null, linkEnds: import('../link.js').Ends | null } & import('../scenario.js').Begun} Data
 */

/**
 * @template {object} [Prepared=object] what `prepare` returns
 * @template {import('./load.js').Round} [Round=import('./load.js').Round]
 * @typedef {object} OfPlane
 * @property {import('./load.js').PlaneLoad<Round>} load
 * @property {Record<string, PlaneOperation>} operations
 * @property {import('./environment.js').PlaneEnvironment} [environment] default: loadPlane(system)
 * @property {'blocking' | 'events' | 'web'} [echo] engine of the far end, or a web server as the far end; default blocking
 * @property {() => Prepared} [prepare] called in setup(); its result becomes part of the run's data
 * @property {(data: Prepared & Data) => Vias} [vias] paths with their own far ends, which `prepare` starts. Default: through
 *   the environment's proxy and direct, to one far end on loopback
 * @property {(round: Round, index: number, plane: Plane<Prepared>) => unknown} round
 * @property {readonly import('./reach.js').Transport[]} [reaches] transports that setup() tries through the proxy; default: none
 * @property {(plane: Plane<any>) => void} [tries] what setup() tries after that, for the result's `more`
 * @property {number} [connections] maximum at once, for which setup() checks the limit of open files; default: no check
 * @property {number} [socketsEach] of a connection in the sidecar, both ends; default 2
 * @property {number} [destinations] UDP addresses of the run's far end; default 1, and 1 if ADDRESS is not ipv4
 * @property {(data: Prepared & Data) => void} [end] called in teardown()
 * @property {(metrics: import('k6/x/windtunnel/record').Metrics, data: Prepared & Data) => import('../section.js').More} [more]
 *   results beyond the operations
 * @property {string} [link] default link, which the variable LINK overrides; default: loopback
 * @property {string} [system] default dataplane
 */
/** @typedef {import('../scenario.js').Definition} Definition */
/**
 * @template {object} [Prepared=object]
 * @template {import('./load.js').Round} [Round=import('./load.js').Round]
 * @typedef {OfPlane<Prepared, Round> & Pick<Definition, 'name' | 'title' | 'parameters' | 'notes' | 'facts' | 'decided' | 'ownInstances'>} PlaneDefinition
 */

/**
 * One VU's view of a run.
 * @template {object} [Prepared=object]
 */
export class Plane {
  /**
   * @param {import('./environment.js').PlaneEnvironment} environment
   * @param {Pick<PlaneDefinition<Prepared>, 'operations' | 'ownInstances' | 'vias'>} definition
   * @param {string} address
   * @param {Prepared & Data} data
   */
  constructor(environment, definition, address, data) {
    this.environment = environment;
    this.operations = definition.operations;
    this.address = address;
    this.data = data;
    const { ownInstances } = definition;
    const window = isForeignTo({ environment, ownInstances }) ? null : data.window;
    this.repeats = new Repeats(partsOf(window), environment.placement, data.neighbourStays);
    const { proxy } = environment;
    // Over a link, probe and far end are at its two ends, and the control crosses the link too.
    const at = data.linkEnds ? { ...data.linkEnds.near, far: data.linkEnds.far } : {};
    const vias = definition.vias?.(data) ?? {
      proxied: { proxy, instance: __ENV.INSTANCE || null, usage_window: data.window, ...at },
      direct: { proxy: null, instance: null, usage_window: null, watched_by: data.window, ...at },
    };
    /** @type {Via} */
    this.proxied = vias.proxied;
    /** @type {Via} */
    this.direct = vias.direct;
  }

  /** @param {'tcp' | 'udp'} protocol @param {import('../meter.js').Echo} [far] */
  target(protocol, far) {
    const given = far?.[protocol] ?? this.environment.target[protocol];
    if (given) return given;
    return addressed(this.address, /** @type {import('../meter.js').Echo} */ (this.data.echo)[protocol]);
  }

  /**
   * Runs one probe without recording it.
   * @param {Via} via
   * @param {Record<string, unknown>} spec of the probe: kind, loop, count … (sidecar/README.md)
   */
  measure(via, spec) {
    return measure(this.specOf(via, spec));
  }

  /** The whole spec of a probe. @param {Via} via @param {Record<string, unknown>} spec */
  specOf({ far, ...via }, spec) {
    const { placement } = this.environment;
    const { link } = this.data;
    return {
      warmup: link ? WARMUP_OVER_LINK : WARMUP,
      ...(link ? { limit_s: limitOver(link, Number(spec.count ?? 0)) } : {}),
      target: this.target(OVER_UDP.includes(String(spec.kind)) ? 'udp' : 'tcp', far),
      cpus: cpusOf(placement.probe_cpus),
      wait: placement.wait,
      keep: SAMPLES_MOST,
      ...via,
      ...spec,
    };
  }

  /**
   * Runs one probe and records it under the operations of its series. The first operation gets the errors.
   * @param {string[]} operations names
   * @param {Via} via
   * @param {Record<string, unknown>} spec of the probe: kind, loop, count … (sidecar/README.md)
   * @returns {import('../meter.js').Measured | null} null: nothing could be measured
   */
  probe(operations, via, spec) {
    return this.recorded(operations, this.measure(via, spec));
  }

  /**
   * Records what measure() returned, as probe() does.
   * @param {string[]} operations names
   * @param {import('../meter.js').Ended} measured
   */
  recorded(operations, measured) {
    const [first] = operations;
    if ('error' in measured) {
      recordNothing(first, measured);
      return null;
    }
    for (const name of operations) {
      recordSeries(name, measured, this.operations[name].series);
    }
    recordRest(first, measured);
    return measured;
  }

  /**
   * Measures a part of the run, and repeats it if other programs disturbed it. A repeat
   * discards what `once` recorded. A repeated `once` must replace its notes.
   * @template T
   * @param {string} name of the part in the report
   * @param {(again: number) => T} once measures the part; `again` is the number of repeats so far
   * @returns {T}
   */
  part(name, once) {
    return this.repeats.part(name, once);
  }

  /**
   * Runs the same load through the proxy and direct, in alternating order, as one part of the run.
   * @param {number} index of the round
   * @param {string[]} operations
   * @param {Record<string, unknown>} spec
   * @param {string[]} [controls]
   * @returns {[string, import('../meter.js').Measured | null][]} first operation of each probe, and its measurements
   */
  pair(index, operations, spec, controls = operations.map(controlName)) {
    /** @type {[string[], Via][]} */
    const both = [
      [controls, this.direct],
      [operations, this.proxied],
    ];
    const order = index % 2 === 0 ? both : both.reverse();
    return this.part(partName(operations[0], index), () =>
      order.map(([names, via]) => [names[0], this.probe(names, via, spec)]),
    );
  }
}

/** @param {string} what @param {number} index of the round */
export const partName = (what, index) => `${what}, round ${index + 1}`;

/** @param {string} operation */
export const controlName = (operation) => `${operation}_direct`;

/**
 * The far end's address as the proxy gets it.
 * @param {string} kind
 * @param {string} address of an echo server
 */
const addressed = (kind, address) => (kind === 'domain' ? address.replace(/^.*:/, 'localhost:') : address);

/** @param {import('./environment.js').PlaneEnvironment} environment @param {string} link */
function addressOf({ target }, link) {
  const address = envChoice('ADDRESS');
  if (link && address !== 'ipv4')
    throw `ADDRESS=${address}: over a link the far end is named by its IPv4 address`;
  if (!target.tcp && !target.udp) return address;
  if (__ENV.ADDRESS) throw `ADDRESS=${address}: the environment's target already sets the far end's address`;
  return 'given';
}

/**
 * An operation and its control.
 * @param {string} name
 * @param {PlaneOperation} operation
 * @returns {Record<string, PlaneOperation>}
 */
export function withControl(name, operation) {
  return {
    [name]: { ...operation, control: controlName(name) },
    // The control's latency is not judged, and an error of the control would make the comparison invalid.
    [controlName(name)]: { ...operation, title: `${operation.title}, direct`, bounds: {} },
  };
}

/**
 * Whether the proxy asked for the configured login, for the run's data; empty if no login is configured.
 * @param {Plane<any>} plane
 * @param {PlaneDefinition['reaches']} reaches
 * @returns {{ login?: boolean | null }}
 */
function loginOf(plane, reaches) {
  if (!reaches || !plane.proxied.proxy?.username) return {};
  const login = asksForLogin(plane);
  if (login === false) {
    console.warn(`${plane.environment.url}: ${NO_LOGIN}`);
    note(LOGIN_NOTE, NO_LOGIN);
  }
  return { login };
}

/** The parameter of a configured login: whether the proxy asked for it. @param {{ login?: boolean | null }} data @returns {Record<string, boolean | string>} */
function negotiated({ login }) {
  if (login === undefined) return {};
  return { auth: login ?? 'unknown' };
}

/** Name of the note on the login. */
const LOGIN_NOTE = 'proxy login';
const NO_LOGIN =
  'a login is configured, but the proxy never asked for it, so the figures are without a login: set auth.mode none, or enable the login in the proxy';

/** Share of datagrams that may be lost over a link: the link itself may be set to lose datagrams. */
const LOST_OVER_LINK = 0.5;

/**
 * Over a link a script's latency bounds do not apply, because they are for loopback. Bounds of the environment do apply.
 * @param {Pick<PlaneDefinition<any, any>, 'operations' | 'reaches'>} definition
 * @returns {Record<string, PlaneOperation>}
 */
function overLink({ operations, reaches = [] }) {
  const losing = reaches.includes('udp') ? { failed: LOST_OVER_LINK, errors: undefined } : {};
  const of = (/** @type {PlaneOperation} */ operation) => {
    const kept = Object.entries(operation.bounds ?? {}).filter(([name]) => !isOfLatency(name));
    return { ...operation, bounds: { ...Object.fromEntries(kept), ...losing } };
  };
  return Object.fromEntries(Object.entries(operations).map(([name, one]) => [name, of(one)]));
}

/**
 * @template {object} [Prepared=object]
 * @template {import('./load.js').Round} [Round=import('./load.js').Round]
 * @param {PlaneDefinition<Prepared, Round>} definition
 */
export function planeScenario(definition) {
  const { system = 'dataplane' } = definition;
  const environment = definition.environment ?? loadPlane(system);
  if (definition.echo === 'web' && (environment.target.tcp || environment.target.udp))
    throw `${system}/${definition.name}: its far end is the sidecar: leave target out of the environment`;
  const { load } = definition;
  const link = definition.vias ? '' : linkOf(`${system}/${definition.name}`, definition.link);
  // Instances over their own links have their own far ends.
  const address =
    definition.vias || (definition.link && definition.ownInstances) ? 'given' : addressOf(environment, link);
  const scenario = defineScenario({
    ...definition,
    operations: link ? overLink(definition) : definition.operations,
    link,
    parameters: { ...definition.parameters, address },
    system,
    environment,
    placement: environment.placement,
    paused: true,
    closesAll: true,
    loadOfStep: (step) => loadOfRound(load.rounds[step]),
    decided: (data) => ({ ...negotiated(data), ...definition.decided?.(data) }),
    remarks: () => listOf(LOGIN_NOTE),
  });
  /** @type {Plane<Prepared> | undefined} */
  let plane;

  /** Stops what setup() started. @param {Prepared & Data} data */
  const undo = (data) => {
    definition.end?.(data);
    if (data.echo) stopEcho(data.echo.id);
  };

  return {
    options: scenario.options,

    setup() {
      checkFiles(definition);
      const prepared = definition.prepare?.();
      const needed = !definition.vias && (!environment.target.tcp || !environment.target.udp);
      const { placement } = environment;
      const spec = farEndOf(definition, placement);
      const echo = needed ? startFarEnd(address, definition.destinations, spec) : null;
      const linkEnds =
        link && !definition.ownInstances ? ownEnds(link, spec, definition.parameters?.timeout_ms) : null;
      const data = /** @type {any} */ ({ ...prepared, echo, linkEnds, window: null });
      const first = new Plane(environment, definition, address, data);
      const fault = definition.reaches && unreached(first, definition.reaches);
      if (fault) {
        undo(data);
        stop(fault);
      }
      definition.tries?.(first);
      const login = loginOf(first, definition.reaches);
      return scenario.begin(() => ({ ...prepared, ...login, echo, linkEnds }));
    },

    /** @param {Prepared & Data} data */
    round(data) {
      plane ??= new Plane(environment, definition, address, data);
      const index = ownScenario().iterationInTest;
      scenario.markStep(index);
      return definition.round(load.rounds[index], index, plane);
    },

    /** @param {Prepared & Data} data */
    teardown(data) {
      cancelProbes();
      scenario.end(data);
      undo(data);
    },

    handleSummary: scenario.summary,
  };
}
