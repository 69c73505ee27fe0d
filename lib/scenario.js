/**
 * Builds a scenario. A scenario is a plain k6 script that exports options, setup, a default function, teardown and
 * handleSummary. This module provides what is the same in all scripts. docs/how-to/add-a-scenario.md explains an example.
 */
import exec from 'k6/execution';
import { judge, recordOf, thresholds } from 'k6/x/windtunnel/judge';
import { measured, watch } from 'k6/x/windtunnel/record';
import { boundsOf } from './bounds.js';
import { measureOffset, now, useOffset } from './clock.js';
import { paceOf } from './pace.js';
import { isForeign, wayOf } from './environment.js';
import { headlineOf } from './headline.js';
import { filesOf, idOfRun, tagScenarios, tagsOf } from './identity.js';
import { linkParameter, withLink } from './link-evidence.js';
import { calibrated, calibrationSeconds } from './link.js';
import { countsOf, loadHasEnded, loadSeconds, timesOf } from './load-end.js';
import { heldByRows } from './left-open.js';
import { removeWith } from './leftovers.js';
import { aboutTokens, expectLoad } from './login.js';
import { Operation, beginRound } from './operations.js';
import { currentProfile, leastClients, limitSteps, loadAt, recordedSeconds } from './profiles.js';
import { PATIENCE_S, awaitQuiet } from './quiet.js';
import { afterRest, restSeconds, waitAfterLoad, withQuiet } from './rest.js';
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

/** Version of Windtunnel, part of every result. */
const VERSION = '0.1.0';

/** Whether the bench repeats the run because other programs disturbed it. */
const MEASURED_AGAIN = Boolean(__ENV.MEASURED_AGAIN);

/**
 * @typedef {import('./environment.js').Bounds} Bounds
 * @typedef {object} Operations
 * @property {string} title
 * @property {'closed' | 'open'} [loop] default closed
 * @property {string} latencyIs start and end of the latency, in words
 * @property {Bounds} [bounds] thresholds; default failed 0 and errors 0
 * @property {number} [least] fewest items of a complete run with a fixed number of iterations
 * @property {string} [items] name of the items of a request, if a request has several
 * @property {string} [owns] the k6 scenario that runs only this operation; k6 tags all its samples with the operation
 * @property {string} [control] the operation that does the same without the system under test
 * @property {boolean} [againstControl] whether its P50 is compared with the P50 of its control, so that gross slowness fails
 * @property {boolean} [saturates] it sends as fast as possible, so the generator may be the limit
 * @property {boolean} [answersItself] the system answers without a far end, so the direct row is no upper limit
 * @property {boolean} [optional] a complete run may have no such operation
 * @property {import('k6/x/windtunnel/judge').Figure} [primary] the figure that a comparison must find within its bound.
 *   Default: throughput or rate of a closed loop, P50 of an open loop. All rows that set it must set the same figure
 * @property {import('k6/x/windtunnel/judge').Figure} [headline] the figure at the top of the report. Default: the first
 *   `primary`, else the rate of the first row
 * @typedef {object} Definition
 * @property {string} system
 * @property {{ name: string, url: string, connection?: import('./environment.js').Connection, target?: { tcp?: string, udp?: string }, thresholds: Record<string, Record<string, Bounds>> }} environment
 * @property {string} name
 * @property {string} title
 * @property {import('./profiles.js').Load} load
 * @property {Record<string, string | number | boolean>} parameters two runs are comparable if these are equal
 * @property {(data: any) => Record<string, string | number | boolean>} [decided] parameters that only setup() can decide,
 *   from what it returned; they replace parameters of the same name
 * @property {Record<string, Operations>} operations
 * @property {string[]} [notes] on this profile, such as a part that does not apply
 * @property {import('k6/x/windtunnel/judge').Placement} [placement] CPUs of each program
 * @property {boolean} [atOnce] the load can run at once with the load of another run
 * @property {boolean} [paused] the measuring window runs only while a probe measures
 * @property {string} [link] name of the link (variable LINK) between client and server; begin() calibrates it. Default: loopback
 * @property {boolean} [ownInstances] the scenario starts its testbeds. Then the system under test is the `instance` of the
 *   run's data, if there is one, instead of the variable INSTANCE
 * @property {(step: number) => string} [loadOfStep] the load of a step, in words
 * @property {boolean} [closesAll] the system must close all descriptors that the load makes it open
 * @property {(runId: string) => string} [leftovers] plural noun for what a run may leave on the target, and how to find
 *   it; default: topics
 * @property {number} [setupSeconds] time limit of setup() and of teardown() each, s; default 60
 * @property {(data: any) => import('k6/x/windtunnel/judge').Fact[]} [facts] compares what the target holds with what the
 *   run counted; `data` is what setup() returned
 * @property {(metrics: import('k6/x/windtunnel/record').Metrics, usage: sidecar.Usage | null) => string[]} [remarks] notes that
 *   depend on the measurements
 * @property {(metrics: import('k6/x/windtunnel/record').Metrics, data: any) => import('./section.js').More} [more] results beyond the operations
 *
 * @typedef {{ runId: string, startedAt: string, loadFrom: number, wallOffset: number,
 *   link: import('./link.js').Calibrated | null, neighbourStays: boolean, window: string | null, rest: sidecar.AtRest[] | null }} Begun `loadFrom` on now()'s clock, `wallOffset` of measureOffset(),
 *   `neighbourStays`: other programs still used the CPUs after the longest wait
 */

/** The scenario's declaration for the judge. @param {Definition} definition @returns {import('k6/x/windtunnel/judge').Declared} */
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

/** Whether k6's own `iterations` counts the operation. @param {Operations} spec */
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
    // Tags must have few values, and each tag of k6's own metrics costs time.
    systemTags: ['status', 'error_code'],
    tags,
    summaryTrendStats: ['count', 'avg', 'min', 'med', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max'],
    setupTimeout: `${(definition.setupSeconds ?? 60) + calibrationSeconds(definition.link) + (MEASURED_AGAIN ? PATIENCE_S : 0) + waitSeconds()}s`,
    teardownTimeout: `${(definition.setupSeconds ?? 60) + waitAfterLoad() + waitSeconds()}s`,
    noCookiesReset: true,
    maxRedirects: 0, // a followed redirect would measure another request or another system
    ...definition.environment.connection?.options,
    // For k6/internal/check. Our output reads the tags, because a --tag of the command line replaces all tags here.
    ext: {
      windtunnel: {
        operations: Object.keys(definition.operations),
        clients: leastClients(definition.load),
        at_once: definition.atOnce,
        tags,
      },
    },
  };
}

/** Whether the sidecar cannot separate the system's CPU use from that of other programs. @param {Pick<Definition, 'environment' | 'ownInstances'>} definition */
export const isForeignTo = ({ environment, ownInstances }) =>
  isForeign(environment, Boolean(ownInstances || __ENV.INSTANCE));

/** The instance under load, if the bench started it. @param {Pick<Definition, 'ownInstances'>} definition */
const loadedOf = ({ ownInstances }) => (ownInstances ? null : __ENV.INSTANCE);

/** @param {Definition} definition @param {Begun} begun @param {number} durationMs @param {sidecar.Usage | null} usage @returns {import('k6/x/windtunnel/judge').Run} */
function runOf(definition, begun, durationMs, usage) {
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
      ...withQuiet(definition.parameters),
      ...linkParameter(definition.link),
      ...timesOf(definition.load),
      ...wayOf(definition.environment),
      ...sidecar.limitParameter(usage),
      ...definition.decided?.(begun),
    },
    testbed: instance && { name: instance.testbed, variables: instance.variables },
    host: sidecar.host(),
    // From the runner, and from the testbed.
    versions: { windtunnel: VERSION, ...JSON.parse(__ENV.VERSIONS || '{}'), ...instance?.versions },
    ...(definition.placement ? { placement: definition.placement } : {}),
    ...(begun.link ? { link: begun.link.about } : {}),
  };
}

/**
 * The scenario's part of the evidence, beyond its operations.
 * @param {Definition} definition
 * @param {Begun} begun
 * @param {import('k6/x/windtunnel/record').Metrics} metrics
 * @param {sidecar.Usage | null} usage
 */
function contributionOf(
  {
    load,
    environment,
    notes = [],
    leftovers = () => "topics whose names begin with the run's id",
    ...definition
  },
  begun,
  metrics,
  usage,
) {
  return {
    leftovers: leftovers(begun.runId),
    facts: definition.facts?.(begun),
    closes_all: definition.closesAll,
    held_by_rows: heldByRows(),
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
 * Builds handleSummary: writes the record and, outside of a bench, the result and the table on the terminal.
 * @param {Definition} definition
 * @param {import('k6/x/windtunnel/judge').Declared} declared
 */
function summaryOf(definition, declared) {
  const restFor = restSeconds();

  /** @param {any} data @returns {Record<string, string | ArrayBuffer>} */
  const summary = (data) => {
    const begun = /** @type {Begun | undefined} */ (data.setup_data ?? undefined);
    // Set-up failed: k6 has reported the reason, and nothing was measured.
    if (!begun) {
      leave('could not set up');
      return {};
    }
    /** @type {sidecar.Usage | null} */
    const usage = watch({
      window: begun.window ?? '',
      cpus: !isForeignTo(definition),
      idle: loadedOf(definition) ?? '',
      rest_s: restFor,
    });
    const durationMs = data.state.testRunDurationMs;
    const evidenceOf = (/** @type {import('k6/x/windtunnel/record').Metrics} */ metrics) => ({
      ...declared,
      ...withLink(contributionOf(definition, begun, metrics, usage), begun.link),
      run: runOf(definition, begun, durationMs, usage),
      headline: headlineOf(definition.operations),
      load_s: usage?.duration_s ?? loadSeconds(begun, durationMs),
      counts: countsOf(data.metrics),
      placement: isForeignTo(definition) ? undefined : definition.placement,
      rest_before: begun.rest,
      silent_ms: SILENT_MS,
    });
    const recorded = measured(data.metrics);
    if (many()) return deliver(evidenceOf, data.metrics, recorded, begun.wallOffset);
    const evidence = evidenceOf(recorded);
    const files = filesOf(begun.runId, definition);
    const record = { [`${files}.record`]: recordOf(evidence) };
    if (__ENV.RECORD_ONLY) return record; // of the bench, which judges it
    const { result, text } = judge(evidence);
    return { ...record, [`${files}.json`]: result, stdout: text };
  };
  return (/** @type {any} */ data) => orUndelivered(() => summary(data));
}

/** @typedef {ReturnType<typeof defineScenario>} Scenario */

/** @param {Definition} definition */
export function defineScenario(definition) {
  // Only an instance with number 0 provides options and runs setup(), teardown() and handleSummary().
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

    /** Whether the load rises in steps to find the limit. */
    hasSteps: steps !== undefined,

    /** The intended start of an iteration of an open loop. Call it first. */
    intended() {
      if (!pace) throw `${definition.name}: this profile has no open loop`;
      return pace();
    },

    /** The operation of a row, created once per VU. @param {string} name */
    operation(name) {
      if (!(name in definition.operations)) throw `${definition.name}: no operation ${name}`;
      operations[name] ??= new Operation(name, {
        uncounted: isUncounted(definition.operations[name]),
        bounded: load.seconds > 0,
      });
      return operations[name];
    },

    /**
     * Tags the samples of an iteration with the step of the load. Call it first in an iteration of an open loop.
     * @param {number} offsetMs since the loop began
     */
    step(offsetMs) {
      if (!steps) return;
      this.markStep(Math.min(steps.count - 1, Math.floor(offsetMs / 1000 / steps.seconds)));
    },

    /** Tags the samples of an iteration that is a whole step. @param {number} step */
    markStep(step) {
      if (steps) exec.vu.metrics.tags.step = String(step);
    },

    /** Call it first in an iteration that accounts at its end for its results. @param {Begun} data */
    round(data) {
      useOffset(data.wallOffset);
      beginRound();
      this.step(now() - data.loadFrom);
    },

    /** now() after which no round should begin anything. @param {Begun} data */
    endsAt: (data) => (load.seconds > 0 ? data.loadFrom + load.seconds * 1000 : Infinity),

    /** In the callback of begin(): the run's id, for names of what the run creates. */
    runId: idOfRun,

    /**
     * setup(): one runner calls `make`, which prepares the target for the load. Then the measuring window opens.
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
     * teardown(): closes the measuring window and waits for the quiet period. Then one runner's `cleanUp` removes what begin() made.
     * @param {Begun} data @param {() => void} [cleanUp]
     */
    end(data, cleanUp = () => {}) {
      loadHasEnded();
      sidecar.closeWindow(data.window);
      const endsAt = data.wallOffset + data.loadFrom + load.seconds * 1000;
      cleanedOnce(load.seconds > 0 ? endsAt : 0, afterRest(data.window, definition, cleanUp));
    },

    summary: declared ? summaryOf(definition, declared) : () => ({}),
  };
}
