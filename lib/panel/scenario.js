/** The common parts of the panel's scenarios: set-up and clean-up, both loops, evidence, and checks of the stored data. */
import { measured } from 'k6/x/windtunnel/record';
import { atOnce } from '../at-once.js';
import { ownData, stop } from '../execution.js';
import { loadParameters, requestLoops } from '../loops.js';
import { isAccepted } from '../answers.js';
import { tellLeft } from '../leftovers.js';
import { envCount } from '../profiles.js';
import { defineScenario } from '../scenario.js';
import { takeCensus } from './census.js';
import { dataPlaneFacts, dataPlaneNotes, inboundOf, tryUsers } from './data-plane.js';
import { messageOf } from './database.js';
import { loadPanel } from './environment.js';
import { Evidence } from './evidence.js';
import { addExisting, checkExisting, removeExisting, toFill } from './existing.js';
import { census, censusOf, factsOf, keepCensus } from './integrity.js';
import { Panel } from './panel.js';
import { isFoundBy } from './answers.js';
import { runPrefix, seedPrefix, userName } from './users.js';

/** Time limit for seeding users, and for removing the users of a long run, s. */
const SETUP_SECONDS = 1800;
/** First index of users that the open loop creates. Lower indices belong to the closed loop. */
const OPEN_FROM = 5_000_000;
const GENERATOR_MOST_PERCENT = 50;
/** Parallel requests in setup(), to open as many connections as there are clients. */
const MOST_AT_ONCE = 100;

/** @typedef {import('./panel.js').Session & import('../scenario.js').Begun & import('./evidence.js').Snapshot & { before: import('./census.js').Census | null, seeded: number, existing: number }} Begun */

/**
 * @typedef {object} Turn one iteration
 * @property {Panel} panel
 * @property {any} data what setup() and `prepare` returned
 * @property {number} index of the iteration in its loop
 * @property {number} unique index that is unique over both loops
 * @property {boolean} open whether it is one of the open loop
 * @property {(name: string, send: () => import('./panel.js').Response, count?: (response: import('./panel.js').Response) => number | string | null) => boolean} measure
 *   sends a request as the operation `name` and returns whether it succeeded. `count` returns the number of items in the
 *   answer, or null or a text that says what is wrong with the answer
 */

/** @typedef {import('../scenario.js').Definition} Definition */
/**
 * @typedef {object} OfPanel
 * @property {number} clients of the closed loop
 * @property {Definition['parameters']} [parameters] additional parameters
 * @property {number} [existing] default of EXISTING: number of users to seed on a testbed and on an empty panel. Seeding
 *   restarts the panel's core
 * @property {(panel: Panel, session: import('./panel.js').Session) => object | void} [prepare] called last in setup();
 *   its result becomes part of a turn's data, and an exception ends the run
 * @property {(metrics: import('k6/x/windtunnel/record').Metrics) => import('../section.js').More['sections']} [sections] tables of the scenario's own
 * @property {string} [tried] group of the users' names that are tried in the data plane after the load
 * @property {(panel: Panel, session: Begun) => void} [settle] called in teardown(), while the users are there
 * @property {() => import('k6/x/windtunnel/judge').Fact[]} [facts] of the scenario's own
 * @property {() => string[]} [remarks] notes of the scenario's own
 * @property {(turn: Turn) => void} iterate
 */
/** @typedef {OfPanel & Pick<Definition, 'name' | 'title' | 'load' | 'atOnce' | 'operations'>} Spec */

/**
 * @param {Spec} spec
 * @param {import('./environment.js').PanelEnvironment} environment
 * @param {Evidence} evidence
 * @param {number} existing
 */
const defined = (spec, environment, evidence, existing) =>
  defineScenario({
    ...spec,
    system: 'panel',
    environment,
    parameters: { ...loadParameters(spec.load), clients: spec.clients, existing, ...spec.parameters },
    leftovers: (runId) => `users whose names begin with ${runPrefix(runId)} or ${seedPrefix(runId)}`,
    setupSeconds: SETUP_SECONDS,
    decided: ({ existing: there }) => ({ existing: there }),
    facts: ({ before }) => [
      ...factsOf(
        { before, loaded: censusOf('loaded'), ...(atOnce ? {} : { removed: censusOf('removed') }) },
        environment.stored !== null,
        __ENV.INSTANCE !== undefined && __ENV.INSTANCE !== '',
      ),
      ...(spec.tried ? dataPlaneFacts() : []),
      ...(spec.facts?.() ?? []),
    ],
    remarks: (metrics, usage) => [
      ...aboutGenerator(usage),
      ...evidence.overlaps(metrics, Object.keys(spec.operations)),
      ...(spec.tried ? dataPlaneNotes() : []),
      ...(spec.remarks?.() ?? []),
    ],
    more: (metrics) => ({
      sections: [...(spec.sections?.(metrics) ?? []), ...evidence.sections(metrics, spec.operations)],
    }),
  });

/** A note if k6 used at least half of a core: a panel should need much more CPU than k6. @param {import('../sidecar.js').Usage | null} usage */
function aboutGenerator(usage) {
  const generator = usage?.processes.find((process) => process.role === 'generator');
  return generator && generator.cpu_percent >= GENERATOR_MOST_PERCENT
    ? [
        `k6 used ${generator.cpu_percent.toFixed(1)} % of one core, more than the 50 % that a load on the panel should need`,
      ]
    : [];
}

/** @param {Spec} spec */
export function panelScenario(spec) {
  const environment = loadPanel();
  const existing = envCount('EXISTING', environment.stored && __ENV.INSTANCE ? (spec.existing ?? 0) : 0);
  const wanted = __ENV.EXISTING === '0' ? 0 : (spec.existing ?? 0);
  checkExisting(existing, environment);
  const inbound = spec.tried ? inboundOf() : null;
  const panel = new Panel(environment);
  const evidence = new Evidence(environment);
  const scenario = defined(spec, environment, evidence, existing);

  /** @param {import('../loops.js').Turn<Begun>} turn */
  const iterate = ({ data, index, open, time }) =>
    spec.iterate({
      panel,
      data,
      index,
      unique: open ? OPEN_FROM + index : index,
      open,
      measure(name, send, count = () => 1) {
        /** @type {import('./panel.js').Response | undefined} */
        let response;
        /** @type {import('./components.js').Entry[] | undefined} */
        let entries;
        /** @type {number | string | null} */
        let items = null;
        // Called after the request, so that the latency does not include reading the answer.
        const settle = (/** @type {import('./panel.js').Response} */ answer) => {
          if (entries) return items;
          entries = evidence.count(answer);
          items = isAccepted(answer) ? (panel.fault(answer) ?? count(answer)) : null;
          // uvicorn closes a connection on which the application crashed. Reconnect here, so that the next request is not affected.
          if (answer.status >= 500) panel.connect();
          return items;
        };
        time(
          name,
          null,
          () => (response = send()),
          (answer, operation) => {
            if (typeof settle(answer) === 'number') evidence.record(operation.name, answer, entries ?? []);
            return items;
          },
        );
        return response !== undefined && typeof settle(response) === 'number';
      },
    });

  return {
    options: { ...scenario.options, batch: MOST_AT_ONCE, batchPerHost: MOST_AT_ONCE },

    setup: () => scenario.begin(set),

    ...requestLoops(scenario, iterate, () => panel.connect()),

    /** @param {Begun} given */
    teardown: (given) => scenario.end(given, () => clear(ownData(given))),

    handleSummary: scenario.summary,
  };

  /** Creates the users of the load. */
  function set() {
    const session = { token: panel.signIn(), runId: scenario.runId() };
    refuseNamesakes(panel, session);
    const before = firstCensus(panel, session);
    const fill = existing === 0 && wanted > 0 ? toFill(panel, before, wanted) : { seeded: existing, made: 0 };
    try {
      addExisting(panel, session, fill.seeded);
      panel.createAll(
        session,
        Array.from({ length: fill.made }, (_, index) => nameOfFilled(session.runId, index)),
      );
      panel.warmUp(session, Math.min(MOST_AT_ONCE, spec.clients));
      const prepared = spec.prepare?.(panel, session) ?? {};
      const there = { seeded: fill.seeded, existing: fill.seeded + fill.made };
      return { ...session, ...prepared, ...there, before, ...evidence.before() };
    } catch (error) {
      // k6 runs no teardown() if setup() fails.
      removeAll(panel, session, fill.seeded);
      return stop(messageOf(error));
    }
  }

  /** Counts the users after the load, and removes them. @param {Begun} data */
  function clear(data) {
    evidence.after(data);
    if (spec.tried) tryUsers(panel, data, spec.tried, inbound);
    spec.settle?.(panel, data);
    keepCensus('loaded', census(panel, data));
    // Both sides at once are testbeds, which end with the run.
    if (atOnce) return;
    removeAll(panel, data, data.seeded);
    keepCensus('removed', census(panel, data));
  }
}

/**
 * In setup(): checks that the run can find its own users, since it must count and remove them.
 * @param {Panel} panel @param {import('./panel.js').Session} session
 */
function refuseNamesakes(panel, session) {
  const search = runPrefix(session.runId);
  const page = panel.list(session, { limit: 100, search }) ?? stop(panel.unread);
  if (page.users.some((user) => isFoundBy(user, search)))
    stop(`panel: there are users of run ${session.runId} already: give another RUN_ID`);
  if (page.total > 0 || page.names.length > 0)
    stop(
      `panel: ${panel.environment.url} ignores the search parameter of a list: it returns users without ${search} in their names, so a run could not find its own users`,
    );
}

/** In setup(): a database that cannot be read ends the run, before any user is made. @param {Panel} panel @param {import('./panel.js').Session} session */
function firstCensus(panel, session) {
  try {
    return takeCensus(panel, session);
  } catch (error) {
    return stop(
      `panel: its database cannot be read: ${messageOf(error)}: correct the URL in the variable that systems.panel.database_env names, or unset the variable: the panel's API counts the users then`,
    );
  }
}

/** Upper bound for the number of the run's users, by requests sent and answers received. */
function mostLeft() {
  const all = measured({});
  const count = (/** @type {string} */ change, /** @type {string} */ outcome) =>
    all[`user_changes{change:${change},outcome:${outcome}}`]?.values.count ?? 0;
  const created = count('created', 'sent') - count('created', 'refused');
  return created - count('deleted_active', 'done') - count('deleted_disabled', 'done');
}

/**
 * Removes the run's users, and reports how many are left.
 * @param {Panel} panel @param {import('./panel.js').Session} session @param {number} existing number of seeded users
 */
function removeAll(panel, session, existing) {
  const seeded = existing > 0 ? removeExisting(panel, session) : 0;
  const left = panel.removeRun(session);
  const names = `users of run ${session.runId}, whose names begin with ${runPrefix(session.runId)} or ${seedPrefix(session.runId)},`;
  const known = left === null || seeded === null ? null : left + seeded;
  const most = (left ?? mostLeft()) + (seeded ?? existing);
  tellLeft('panel', session.runId, names, known, most);
}

/** Names of a scenario's users. @param {string} group of the scenario, [a-z]{1,9} */
export const namesOf = (group) => (/** @type {string} */ runId, /** @type {number} */ index) =>
  userName(runPrefix(runId), group, index);

const nameOfFilled = namesOf('there');
