/**
 * What a data-plane scenario is made of: one virtual user that asks the sidecar for one
 * probe after the other and turns what they measured into k6's metrics.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { endsOf, limitOver, linkOf, rttSeconds } from '../link/link.js';
import { envChoice } from '../profiles.js';
import { ownScenario, stop } from '../execution.js';
import { defineScenario, isForeignTo } from '../scenario.js';
import { isOfLatency } from '../bounds.js';
import { cpusOf, loadPlane, overlaps } from './environment.js';
import { SAMPLES_MOST, loadOfRound } from './load.js';
import { ask, cancelProbes, measure, startEcho, stopEcho } from './meter.js';
import { partsOf } from './parts.js';
import { recordNothing, recordRest, recordSeries } from './probe-operation.js';
import { tooFewFiles } from './open-files.js';
import { asksForLogin, unreached } from './reach.js';
import { Repeats } from './repeats.js';

/** Round trips, handshakes or datagrams that go before each probe and are not recorded. */
const WARMUP = 50;

/** The same over a link, where each takes a round trip of it. */
const WARMUP_OVER_LINK = 5;
/**
 * @typedef {import('../scenario.js').Operations & { series?: string }} PlaneOperation `series` is the probe's that
 *   its latencies come from; round_trip unless given
 *
 * @typedef {object} Via how a probe reaches its far end
 * @property {import('./environment.js').Proxy | null} proxy null for direct
 * @property {string | null} instance of the testbed whose use is measured
 * @property {string | null} usage_window that adds up what the run used
 * @property {string | null} [watched_by] the window that sees who uses the CPUs meanwhile, where that is not the same
 * @property {{ instance: string, name: string }} [namespace] that it is sent from
 * @property {import('./meter.js').Echo} [far] the far end, where it is not the run's
 *
 * @typedef {{ proxied: Via, direct: Via }} Vias
 * @typedef {{ echo: import('./meter.js').Echo | null, linkEnds: import('../link/link.js').Ends | null } & import('../scenario.js').Begun} Data
 */

/**
 * @template {object} [Prepared=object] what `prepare` returns; it is in the run's data
 * @template {import('./load.js').Round} [Round=import('./load.js').Round]
 * @typedef {object} PlaneDefinition
 * @property {string} name
 * @property {string} title
 * @property {import('./load.js').PlaneLoad<Round>} load
 * @property {Record<string, string | number | boolean>} parameters
 * @property {Record<string, PlaneOperation>} operations
 * @property {import('./environment.js').PlaneEnvironment} [environment] loadPlane()'s unless given
 * @property {'blocking' | 'events'} [echo] engine of the far end; blocking unless given
 * @property {() => Prepared} [prepare] in setup(); what it returns is in the run's data
 * @property {(data: Prepared & Data) => Vias} [vias] with far ends of their own, which `prepare` starts;
 *   through the environment's proxy and direct, to one far end on loopback, unless given
 * @property {(round: Round, index: number, plane: Plane<Prepared>) => void} round
 * @property {readonly import('./reach.js').Transport[]} [reaches] what the proxy must carry: set-up tries each; nothing unless given
 * @property {number} [connections] at once, at most: set-up sees that there may be so many; not asked unless given
 * @property {(data: Prepared & Data) => void} [end] in teardown(), with the run's data
 * @property {(metrics: import('k6/x/windtunnel/record').Metrics, data: Prepared & Data) => import('../section.js').More} [more]
 *   what it shows beyond its operations
 * @property {string[]} [notes]
 * @property {import('../scenario.js').Definition['facts']} [facts]
 * @property {boolean} [ownInstances]
 * @property {string} [link] that it is over where LINK does not say another; none unless given
 * @property {string} [system] dataplane unless given
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
    // Over a link both are at its ends, and the control goes over it too.
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

  /** @param {'tcp' | 'udp'} protocol @param {import('./meter.js').Echo} [far] */
  target(protocol, far) {
    const given = far?.[protocol] ?? this.environment.target[protocol];
    if (given) return given;
    return addressed(this.address, /** @type {import('./meter.js').Echo} */ (this.data.echo)[protocol]);
  }

  /**
   * Runs one probe and records nothing.
   * @param {Via} via
   * @param {Record<string, unknown>} spec of the probe: kind, loop, count … (sidecar/README.md)
   */
  measure({ far, ...via }, spec) {
    const { placement } = this.environment;
    const { link } = this.data;
    return measure({
      warmup: link ? WARMUP_OVER_LINK : WARMUP,
      ...(link ? { limit_s: limitOver(link, Number(spec.count ?? 0)) } : {}),
      target: this.target(spec.kind === 'udp' || spec.kind === 'dns' ? 'udp' : 'tcp', far),
      cpus: cpusOf(placement.probe_cpus),
      wait: placement.wait,
      keep: SAMPLES_MOST,
      ...via,
      ...spec,
    });
  }

  /**
   * Runs one probe and records it under the operations that its series belong to; the
   * first of them has its errors.
   * @param {string[]} operations names
   * @param {Via} via
   * @param {Record<string, unknown>} spec of the probe: kind, loop, count … (sidecar/README.md)
   * @returns {import('./meter.js').Measured | null} null where nothing could be measured
   */
  probe(operations, via, spec) {
    const measured = this.measure(via, spec);
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
   * Measures a part of the run, again where others disturbed it. It records by lib/dataplane/held.js alone, and leaves
   * nothing of an earlier time.
   * @template T
   * @param {string} name that the report gives it
   * @param {(again: number) => T} once measures it, for the n-th time again
   * @returns {T}
   */
  part(name, once) {
    return this.repeats.part(name, once);
  }

  /**
   * The same load through the proxy and direct, which of them first in turn; a part of the run.
   * @param {number} index of the round
   * @param {string[]} operations
   * @param {Record<string, unknown>} spec
   * @param {string[]} [controls]
   * @returns {[string, import('./meter.js').Measured | null][]} first operation of each, and what was measured
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
 * How the far end is named to the proxy.
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
  if (__ENV.ADDRESS) throw `ADDRESS=${address}: the environment's target says how the far end is named`;
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
    // Its latency is not what is judged; an error there would spoil what it controls.
    [controlName(name)]: { ...operation, title: `${operation.title}, direct`, bounds: {} },
  };
}

/** A far end that polls on the probe's own CPU would take its time from it. @param {import('./environment.js').Placement} placement */
export const echoWait = ({ wait, probe_cpus: probe, echo_cpus: echo }) =>
  overlaps(probe, echo) ? 'block' : wait;

/**
 * What was negotiated of the login that is configured, for the run's data; nothing where none is.
 * @param {Plane<any>} plane
 * @param {PlaneDefinition['reaches']} reaches
 * @returns {{ login?: boolean | null }}
 */
function loginOf(plane, reaches) {
  if (!reaches || !plane.proxied.proxy?.username) return {};
  const login = asksForLogin(plane);
  if (login === false) {
    console.warn(`${plane.environment.url}: ${NO_LOGIN}`);
    say(SAID_LOGIN, NO_LOGIN);
  }
  return { login };
}

/** The parameter of a login that is configured: whether it was asked for. @param {{ login?: boolean | null }} data @returns {Record<string, boolean | string>} */
function negotiated({ login }) {
  if (login === undefined) return {};
  return { auth: login ?? 'unknown' };
}

/** What was said of a login. */
const SAID_LOGIN = 'proxy login';
const NO_LOGIN =
  'a login is configured, and the proxy never asked for it: what was measured is without a login; set auth.mode none, or turn the login on in the proxy';

/** Notes. */
const aboutLogin = () => {
  const told = said()[SAID_LOGIN];
  return told ? [told] : [];
};

/** Ends a run that would need more files than there are. @param {number | undefined} connections at once */
function checkFiles(connections) {
  const files = connections ? tooFewFiles(connections) : null;
  if (files) stop(files);
}

/** Share of datagrams that may be lost over a link: what is lost is what it was asked for. */
const LOST_OVER_LINK = 0.5;

/**
 * Over a link a script's own bounds on latency, which are meant for loopback, say nothing; an environment's do.
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
 * The ends of the link of the pair that the bench has started.
 * @param {string} link
 * @param {object} spec of the far end
 * @param {unknown} timeoutMs after which what was sent is lost; undefined where nothing is lost by its time
 */
function ownEnds(link, spec, timeoutMs) {
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

/**
 * @template {object} [Prepared=object]
 * @template {import('./load.js').Round} [Round=import('./load.js').Round]
 * @param {PlaneDefinition<Prepared, Round>} definition
 */
export function planeScenario(definition) {
  const { system = 'dataplane' } = definition;
  const environment = definition.environment ?? loadPlane(system);
  const { load } = definition;
  const link = definition.vias ? '' : linkOf(`${system}/${definition.name}`, definition.link);
  // Pairs over links of their own have their far ends there.
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
    loadOfStep: (step) => loadOfRound(load.rounds[step]),
    decided: negotiated,
    remarks: aboutLogin,
  });
  /** @type {Plane<Prepared> | undefined} */
  let plane;

  /** Ends what setup() began. @param {Prepared & Data} data */
  const undo = (data) => {
    definition.end?.(data);
    if (data.echo) stopEcho(data.echo.id);
  };

  return {
    options: scenario.options,

    setup() {
      checkFiles(definition.connections);
      const prepared = definition.prepare?.();
      const needed = !definition.vias && (!environment.target.tcp || !environment.target.udp);
      const { placement } = environment;
      const spec = {
        engine: definition.echo ?? 'blocking',
        cpus: cpusOf(placement.echo_cpus),
        wait: echoWait(placement),
      };
      const echo = needed ? startEcho({ host: address === 'ipv6' ? '::1' : '127.0.0.1', ...spec }) : null;
      const linkEnds =
        link && !definition.ownInstances ? ownEnds(link, spec, definition.parameters?.timeout_ms) : null;
      const data = /** @type {any} */ ({ ...prepared, echo, linkEnds, window: null });
      if (definition.reaches) {
        const fault = unreached(new Plane(environment, definition, address, data), definition.reaches);
        if (fault) {
          undo(data);
          stop(fault);
        }
      }
      const login = loginOf(new Plane(environment, definition, address, data), definition.reaches);
      return scenario.begin(() => ({ ...prepared, ...login, echo, linkEnds }));
    },

    /** @param {Prepared & Data} data */
    round(data) {
      plane ??= new Plane(environment, definition, address, data);
      const index = ownScenario().iterationInTest;
      scenario.markStep(index);
      definition.round(load.rounds[index], index, plane);
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
