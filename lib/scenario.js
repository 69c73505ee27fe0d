/**
 * What a scenario script is made of. A script stays a plain k6 script: it exports
 * options, setup, a default function, teardown and handleSummary, and takes them
 * from here where they are the same everywhere. docs/how-to/add-a-scenario.md walks
 * through one.
 */
import exec from 'k6/execution';
import { judge, thresholds } from 'k6/x/windtunnel/judge';
import { measured } from 'k6/x/windtunnel/record';
import { boundsOf } from './bounds.js';
import { measureOffset, now, useOffset } from './clock.js';
import { paceOf } from './pace.js';
import { isForeign, wayOf } from './environment.js';
import { headlineOf } from './headline.js';
import { filesOf, idOfRun, tagScenarios, tagsOf } from './identity.js';
import { linkParameter, withLink } from './link/evidence.js';
import { calibrated, calibrationSeconds } from './link/link.js';
import { countsOf, loadHasEnded, loadSeconds, timesOf } from './load-end.js';
import { removeWith } from './leftovers.js';
import { aboutTokens, expectLoad } from './login.js';
import { Operation, beginRound } from './operations.js';
import { currentProfile, leastClients, limitSteps, loadAt, recordedSeconds } from './profiles.js';
import { PATIENCE_S, awaitQuiet } from './quiet.js';
import { afterRest, restSeconds, waitAfterLoad } from './rest.js';
import {
  cleanedOnce,
  deliver,
  leave,
  madeOnce,
  many,
  orUndelivered,
  partOf,
  startTogether,
  waitSeconds,
} from './runners.js';
import * as sidecar from './sidecar.js';
import { SILENT_MS } from './silence.js';

/** Version of Windtunnel, in every result. */
export const VERSION = '0.1.0';

/** The bench says that others disturbed it the time before. */
const MEASURED_AGAIN = Boolean(__ENV.MEASURED_AGAIN);

/**
 * @typedef {import('./environment.js').Bounds} Bounds
 * @typedef {object} Operations
 * @property {string} title
 * @property {'closed' | 'open'} [loop] closed unless given
 * @property {string} latencyIs from what to what the latency is measured
 * @property {Bounds} [bounds] thresholds; failed 0 and errors 0 unless given
 * @property {number} [least] fewest items that a complete run with a fixed number of iterations carries
 * @property {string} [items] name of what a request carries, where it carries many
 * @property {string} [owns] the k6 scenario that does nothing else, so that k6 tags all its samples with the operation
 * @property {string} [control] the operation that does the same without the system under test
 * @property {boolean} [againstControl] whether its P50 is judged by its control's, so that gross slowness fails
 * @property {boolean} [saturates] it sends as much as comes through, so that the meter may be the limit
 * @property {boolean} [answersItself] the system answers, and asks no far end: direct, where a far end answers, is not its limit
 * @property {boolean} [optional] a complete run may have none of it
 * @property {import('k6/x/windtunnel/judge').Figure} [primary] the figure that answers the scenario's question, where its kind does
 *   not say it: throughput or rate of a closed loop, P50 of an open one. A comparison must find it within its bound. The
 *   rows that have one must have the same
 * @property {import('k6/x/windtunnel/judge').Figure} [headline] what the report leads with, where that is not the first row's
 *   `primary`; where no row has either it is the rate of the first one
 *
 * @typedef {object} Definition
 * @property {string} system
 * @property {{ name: string, url: string, connection?: import('./environment.js').Connection, target?: { tcp?: string, udp?: string }, thresholds: Record<string, Record<string, Bounds>> }} environment
 * @property {string} name
 * @property {string} title
 * @property {import('./profiles.js').Load} load
 * @property {Record<string, string | number | boolean>} parameters what makes two runs comparable
 * @property {(data: any) => Record<string, string | number | boolean>} [decided] parameters that only setup() could tell,
 *   from what it returned; they come in place of those of the same name
 * @property {Record<string, Operations>} operations
 * @property {string[]} [notes] on this profile, such as a part that does not apply
 * @property {import('k6/x/windtunnel/judge').Placement} [placement] which CPUs did what
 * @property {boolean} [paused] the measuring window only runs while a probe measures
 * @property {string} [link] that its pairs are started over, as LINK has it; none unless given: begin() measures it first
 * @property {boolean} [ownInstances] it starts testbeds by itself: the one that it was given is not what is measured, but
 *   the `instance` of the run's data, where there is one
 * @property {(step: number) => string} [loadOfStep] how the load of a step is written
 * @property {(runId: string) => string} [leftovers] what a run may leave on the target, in the plural, and how to find
 *   it; topics unless given
 * @property {number} [setupSeconds] for setup() and for teardown(), each; 60 unless given
 * @property {(data: any) => import('k6/x/windtunnel/judge').Fact[]} [facts] what the target holds, and what the run
 *   reported of it; `data` is what setup() returned
 * @property {(metrics: import('k6/x/windtunnel/record').Metrics, usage: sidecar.Usage | null) => string[]} [remarks] notes that
 *   depend on what was measured
 * @property {(metrics: import('k6/x/windtunnel/record').Metrics, data: any) => import('./section.js').More} [more] what it shows beyond its operations
 *
 * @typedef {{ runId: string, startedAt: string, loadFrom: number, wallOffset: number,
 *   link: import('./link/link.js').Calibrated | null, neighbourStays: boolean, window: string | null, rest: sidecar.AtRest[] | null }} Begun: `loadFrom` on now()'s clock, `wallOffset` of measureOffset(),
 *   `neighbourStays`: somebody else uses the CPUs, and was waited for in vain
 */

/** What the judge is told before anything runs. @param {Definition} definition @returns {import('k6/x/windtunnel/judge').Declared} */
function declaredOf(definition) {
  const { load, operations } = definition;
  const bounds = boundsOf(definition);
  return {
    operations: Object.entries(operations).map(([name, spec]) => ({
      name,
      title: spec.title,
      loop: spec.loop ?? 'closed',
      latency_is: spec.latencyIs,
      items: spec.items,
      control: spec.control,
      against_control: spec.againstControl,
      saturates: spec.saturates,
      answers_itself: spec.answersItself,
      optional: spec.optional,
      uncounted: isUncounted(spec),
      primary: spec.primary,
      least: spec.least,
      planned_s: recordedSeconds(load, spec.loop ?? 'closed'),
      bounds: bounds[name],
    })),
    plan: { iterations: load.iterations, seconds: load.seconds },
    steps: stepsOf(definition),
  };
}

/** Whether k6 counts the operation by itself. @param {Operations} spec */
const isUncounted = ({ owns, items }) => owns !== undefined && !items;

/** @param {Definition} definition @returns {import('k6/x/windtunnel/judge').Steps | undefined} */
function stepsOf({ load, loadOfStep }) {
  const steps = limitSteps(load);
  if (!steps) return undefined;
  const unit = load.schedule ? 'requests a second' : 'clients';
  // Each step reaches its load within its first fifteenth.
  const reached = (/** @type {number} */ step) =>
    `${loadAt(load, (step + 0.5) * steps.seconds)?.toFixed(0)} ${unit}`;
  return {
    seconds: steps.seconds,
    loads: Array.from({ length: steps.count }, (_, step) => (loadOfStep ?? reached)(step)),
  };
}

/** @param {Definition} definition @param {import('k6/x/windtunnel/judge').Declared} declared */
function optionsOf(definition, declared) {
  const tags = tagsOf(definition);
  return {
    scenarios: tagScenarios(definition),
    thresholds: partOf(thresholds(declared)),
    // Nothing unbounded may be a tag, and each tag of k6's own metrics costs time.
    systemTags: ['status', 'error_code'],
    tags,
    summaryTrendStats: ['count', 'avg', 'min', 'med', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max'],
    setupTimeout: `${(definition.setupSeconds ?? 60) + calibrationSeconds(definition.link) + (MEASURED_AGAIN ? PATIENCE_S : 0) + waitSeconds()}s`,
    teardownTimeout: `${(definition.setupSeconds ?? 60) + waitAfterLoad() + waitSeconds()}s`,
    noCookiesReset: true,
    maxRedirects: 0, // to follow one would measure another system, or another request
    ...definition.environment.connection?.options,
    // For those who check an environment's bounds and the number of runners (k6/internal/check), and for our output: a tag of the
    // command line takes the place of all tags here.
    ext: {
      windtunnel: {
        operations: Object.keys(definition.operations),
        clients: leastClients(definition.load),
        tags,
      },
    },
  };
}

/** Versions that the runner knows (VARIABLE VERSIONS, a JSON object) and those of the testbed. @param {sidecar.Instance | null} instance */
function versionsOf(instance) {
  return { windtunnel: VERSION, ...JSON.parse(__ENV.VERSIONS || '{}'), ...instance?.versions };
}

/** Whether the sidecar cannot tell what others use from what the system does. @param {Pick<Definition, 'environment' | 'ownInstances'>} definition */
export const isForeignTo = ({ environment, ownInstances }) =>
  isForeign(environment, Boolean(ownInstances || __ENV.INSTANCE));

/** The instance that was given, where it has the load. @param {Pick<Definition, 'ownInstances'>} definition */
const loadedOf = ({ ownInstances }) => (ownInstances ? null : __ENV.INSTANCE);

/** @param {Definition} definition @param {Begun} begun @param {number} durationMs @returns {import('k6/x/windtunnel/judge').Run} */
function runOf(definition, begun, durationMs) {
  const instance = sidecar.instance();
  return {
    id: begun.runId,
    start: begun.startedAt,
    end: new Date().toISOString(),
    duration_s: durationMs / 1000,
    system: definition.system,
    scenario: definition.name,
    title: definition.title,
    profile: currentProfile(),
    environment: definition.environment.name,
    target: definition.environment.url,
    parameters: {
      ...definition.parameters,
      ...linkParameter(definition.link),
      ...timesOf(definition.load),
      ...wayOf(definition.environment),
      ...definition.decided?.(begun),
    },
    testbed: instance && { name: instance.testbed, variables: instance.variables },
    host: sidecar.host(),
    versions: versionsOf(instance),
    ...(definition.placement ? { placement: definition.placement } : {}),
    ...(begun.link ? { link: begun.link.about } : {}),
  };
}

/** What the machine and the system did meanwhile. @param {Definition} definition @param {Begun} begun @param {number} restFor seconds */
function watchedOf(definition, begun, restFor) {
  const own = !isForeignTo(definition);
  const usage = sidecar.usageOf(begun.window);
  return {
    usage,
    cpus: own ? sidecar.cpusOverTime(begun.window) : [],
    placement: own ? definition.placement : undefined,
    rest_before: begun.rest,
    rest_after: usage?.at_rest ?? sidecar.atRest(loadedOf(definition), restFor),
  };
}

/** A scenario whose definition says nothing else makes topics. @param {string} _runId */
const TOPICS = (_runId) => "topics whose names begin with the run's id";

/**
 * What the scenario has to say beside its operations.
 * @param {Definition} definition
 * @param {Begun} begun
 * @param {import('k6/x/windtunnel/record').Metrics} metrics
 * @param {sidecar.Usage | null} usage
 */
function saidBy({ load, environment, notes = [], leftovers = TOPICS, ...definition }, begun, metrics, usage) {
  return {
    leftovers: leftovers(begun.runId),
    facts: definition.facts?.(begun),
    remove_with: removeWith(definition.system, begun.runId),
    notes: [
      ...(environment.connection?.notes ?? []),
      ...load.notes,
      ...notes,
      ...aboutTokens(metrics),
      ...(definition.remarks?.(metrics, usage) ?? []),
    ],
    ...(definition.more?.(metrics, begun) ?? { sections: [] }),
  };
}

/**
 * handleSummary: the result and the record as files, and the table on the terminal.
 * @param {Definition} definition
 * @param {import('k6/x/windtunnel/judge').Declared} declared
 */
function summaryOf(definition, declared) {
  const restFor = restSeconds();

  /** @param {any} data @returns {Record<string, string | ArrayBuffer>} */
  const summary = (data) => {
    const begun = /** @type {Begun | undefined} */ (data.setup_data ?? undefined);
    // Set-up failed: k6 has said why, and nothing was measured.
    if (!begun) {
      leave('could not set up');
      return {};
    }
    const watched = watchedOf(definition, begun, restFor);
    const durationMs = data.state.testRunDurationMs;
    const evidenceOf = (/** @type {import('k6/x/windtunnel/record').Metrics} */ metrics) => ({
      ...declared,
      ...watched,
      ...withLink(saidBy(definition, begun, metrics, watched.usage), begun.link),
      run: runOf(definition, begun, durationMs),
      headline: headlineOf(definition.operations),
      load_s: watched.usage?.duration_s ?? loadSeconds(begun, durationMs),
      counts: countsOf(data.metrics),
      silent_ms: SILENT_MS,
    });
    const own = measured(data.metrics);
    if (many()) return deliver(evidenceOf, data.metrics, own, begun.wallOffset);
    const { result, record, text } = judge(evidenceOf(own));
    const files = filesOf(begun.runId, definition);
    return { [`${files}.json`]: result, [`${files}.record`]: record, stdout: text };
  };
  return (/** @type {any} */ data) => orUndelivered(() => summary(data));
}

/** @typedef {ReturnType<typeof defineScenario>} Scenario */

/** @param {Definition} definition */
export function defineScenario(definition) {
  // Each virtual user runs the script anew, and needs none of it: k6 asks the first instance for options, and that or another of number 0
  // runs setup(), teardown() and handleSummary().
  const declared = __VU > 0 ? undefined : declaredOf(definition);
  const { load } = definition;
  const warmupMs = load.warmupSeconds * 1000;
  const steps = limitSteps(load);

  const pace = load.schedule && paceOf(load.schedule);
  /** @type {Record<string, Operation>} */
  const operations = {};

  return {
    options: declared ? optionsOf(definition, declared) : {},
    warmupMs,

    /** Whether it looks for the limit, step by step. */
    hasSteps: steps !== undefined,

    /** First in an iteration of an open loop: when it was meant to start. */
    intended() {
      if (!pace) throw `${definition.name}: this profile has no open loop`;
      return pace();
    },

    /** A row, one for the whole life of a VU. @param {string} name */
    operation(name) {
      if (!(name in definition.operations)) throw `${definition.name}: no operation ${name}`;
      operations[name] ??= new Operation(name, {
        uncounted: isUncounted(definition.operations[name]),
        bounded: load.seconds > 0,
      });
      return operations[name];
    },

    /**
     * First in an iteration of an open loop: which step of the load it belongs to.
     * @param {number} offsetMs since the loop began
     */
    step(offsetMs) {
      if (!steps) return;
      this.markStep(Math.min(steps.count - 1, Math.floor(offsetMs / 1000 / steps.seconds)));
    },

    /** The same, where an iteration is a step. @param {number} step */
    markStep(step) {
      if (steps) exec.vu.metrics.tags.step = String(step);
    },

    /** First in an iteration that accounts at its end for what it did. @param {Begun} data */
    round(data) {
      useOffset(data.wallOffset);
      beginRound();
      this.step(now() - data.loadFrom);
    },

    /** now() after which no round should begin anything new. @param {Begun} data */
    endsAt: (data) => (load.seconds > 0 ? data.loadFrom + load.seconds * 1000 : Infinity),

    /** In what begin() is given: the run's id, for names of what the run makes. */
    runId: idOfRun,

    /**
     * setup(): `make` makes on the target what the load needs, once for all runners; then the measuring window opens.
     * @template T @param {() => T} make @returns {T & Begun}
     */
    begin(make) {
      expectLoad(load.seconds);
      const data = madeOnce(
        () => JSON.stringify([VERSION, declared, definition.parameters]),
        () => ({
          ...make(),
          link: definition.link ? calibrated(definition.link) : null,
          runId: idOfRun(),
          rest: sidecar.atRest(loadedOf(definition), restSeconds()),
        }),
      );
      const quiet = !MEASURED_AGAIN || awaitQuiet(definition.placement, PATIENCE_S * 1000);
      const wallOffset = measureOffset();
      startTogether();
      return {
        ...data,
        startedAt: new Date().toISOString(),
        loadFrom: now(),
        wallOffset,
        neighbourStays: !quiet,
        window: sidecar.openWindow(
          definition.ownInstances ? (/** @type {any} */ (data).instance ?? null) : __ENV.INSTANCE || null,
          definition.paused,
        ),
      };
    },

    /**
     * teardown(): closes the measuring window; after the quiet period, in which nothing is sent, `cleanUp` removes what `make` of begin() made, once for all runners.
     * @param {Begun} data @param {() => void} [cleanUp]
     */
    end(data, cleanUp = () => {}) {
      loadHasEnded();
      sidecar.closeWindow(data.window);
      const endsAt = data.wallOffset + data.loadFrom + load.seconds * 1000;
      const rested = afterRest(data.window, !definition.ownInstances, cleanUp);
      cleanedOnce(load.seconds > 0 ? endsAt : 0, rested);
    },

    summary: declared ? summaryOf(definition, declared) : () => ({}),
  };
}
