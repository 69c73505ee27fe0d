/** What the panel's scenarios share: set-up and clean-up, both loops, evidence, whether the data is right. */
import { ownData, ownScenario, stop } from '../execution.js';
import { loadParameters } from '../loops.js';
import { reportLeft } from '../operations.js';
import { envCount } from '../profiles.js';
import { timed, timedFrom } from '../requests.js';
import { defineScenario } from '../scenario.js';
import { messageOf } from './database.js';
import { loadPanel } from './environment.js';
import { Evidence } from './evidence.js';
import { addExisting, checkExisting, removeExisting } from './existing.js';
import { INTEGRITY_METRICS, census, integrityOf, keepCensus } from './integrity.js';
import { Panel } from './panel.js';
import { runPrefix, userName } from './users.js';

const OK = 200;
/** For seeding and for removing what a long run made. */
const SETUP_SECONDS = 1800;
/** Of a run's names, the open loop's come after the closed loop's. */
const OPEN_FROM = 5_000_000;

/** @typedef {import('./panel.js').Session & import('../scenario.js').Begun & import('./evidence.js').Snapshot & { before: import('./census.js').Census | null }} Begun */

/**
 * @typedef {object} Turn one iteration
 * @property {Panel} panel
 * @property {any} data what setup() returned, and `prepare` in it
 * @property {number} index of the iteration in its loop
 * @property {number} unique the same, of both loops together
 * @property {(name: string, send: () => import('./panel.js').Response, count?: (response: import('./panel.js').Response) => number | null) => boolean} measure
 *   sends a request as the operation `name` and tells whether it succeeded; `count` tells how many items the answer
 *   carries, null where it is not what it should be
 */

/**
 * @typedef {object} Spec
 * @property {string} name
 * @property {string} title
 * @property {import('../profiles.js').Load} load
 * @property {number} clients of the closed loop
 * @property {Record<string, string | number | boolean>} [parameters] more of them
 * @property {Record<string, import('../scenario.js').Operations>} operations
 * @property {number} [existing] users that are seeded where there is a database, unless EXISTING says otherwise
 * @property {boolean} [rounds] an iteration is more than one request
 * @property {(panel: Panel, session: import('./panel.js').Session) => object} [prepare] last of setup(); what it
 *   returns is in a turn's data, what it throws ends the run
 * @property {(turn: Turn) => void} iterate
 */

/** EXISTING may be 0, unlike other counts. @param {number} fallback */
const existingCount = (fallback) =>
  __ENV.EXISTING === '0' || (!__ENV.EXISTING && fallback === 0) ? 0 : envCount('EXISTING', fallback);

/**
 * @param {Spec} spec
 * @param {import('./environment.js').PanelEnvironment} environment
 * @param {Evidence} evidence
 * @param {number} existing
 */
const defined = (spec, environment, evidence, existing) =>
  defineScenario({
    system: 'panel',
    environment,
    name: spec.name,
    title: spec.title,
    load: spec.load,
    parameters: { ...loadParameters(spec.load), clients: spec.clients, existing, ...spec.parameters },
    operations: spec.operations,
    leftovers: 'users',
    setupSeconds: SETUP_SECONDS,
    keep: { ...INTEGRITY_METRICS, ...evidence.metrics(Object.keys(spec.operations)) },
    integrity: (metrics, { before }) => integrityOf(metrics, { before, sql: environment.database !== null }),
    remarks: (metrics) => {
      const count = metrics.relogins?.values.count ?? 0;
      return count > 0
        ? [`the token expired in mid-run (401): clients logged in again, ${count} times in all`]
        : [];
    },
    more: (metrics, rows) => evidence.found(metrics, rows),
  });

/** @param {Spec} spec */
export function panelScenario(spec) {
  const environment = loadPanel();
  const existing = existingCount(environment.database ? (spec.existing ?? 0) : 0);
  checkExisting(existing, environment);
  const panel = new Panel(environment);
  const evidence = new Evidence(environment);
  const scenario = defined(spec, environment, evidence, existing);
  const rows = Object.fromEntries(
    Object.keys(spec.operations).map((name) => [name, scenario.operation(name)]),
  );
  let connected = false;

  /**
   * @param {Begun} data
   * @param {{ at: number, offset: number }} [intended] start, in an open loop
   * @returns {Turn}
   */
  function turnOf(data, intended) {
    const index = ownScenario().iterationInTest;
    return {
      panel,
      data,
      index,
      unique: intended ? OPEN_FROM + index : index,
      measure: (name, send, count = () => 1) => {
        const row = intended ? `${name}_open` : name;
        /** @type {import('./panel.js').Response} */
        let response;
        /** @type {import('./components.js').Entry[] | undefined} */
        let entries;
        /** @type {number | null} */
        let items = null;
        const sent = () => (response = send());
        // Afterwards: the latency of an open loop is not to hold the reading of the answer.
        const settle = () => {
          if (entries) return items;
          entries = evidence.count(response);
          items = response.status === OK ? count(response) : null;
          // uvicorn closes a connection on which the application crashed: let this request meet that, not the next one.
          if (response.status >= 500) panel.connect();
          return items;
        };
        const carried = () => {
          if (settle() !== null) evidence.record(row, response, entries ?? []);
          return items;
        };
        if (intended) timedFrom(rows[row], OK, sent, intended, scenario.warmupMs, carried);
        else timed(rows[row], OK, sent, carried);
        return settle() !== null;
      },
    };
  }

  /** @param {Begun} given */
  function enter(given) {
    if (!connected) panel.connect();
    connected = true;
    return ownData(given);
  }

  return {
    options: scenario.options,

    setup() {
      const session = { token: panel.signIn(), runId: scenario.runId() };
      if ((panel.total(session, `&search=${runPrefix(session.runId)}`) ?? 0) > 0)
        stop(`panel: there are users of run ${session.runId} already: give another RUN_ID`);
      const before = census(panel, session);
      try {
        addExisting(panel, session, existing);
        panel.warmUp(session);
        const prepared = spec.prepare?.(panel, session) ?? {};
        return scenario.begin({ ...session, ...prepared, before, ...evidence.before() });
      } catch (error) {
        // k6 runs no teardown() where this ends the run.
        if (existing > 0) removeExisting(panel, session);
        panel.removeRun(session);
        return stop(messageOf(error));
      }
    },

    /** @param {Begun} given */
    closedLoop(given) {
      const data = enter(given);
      if (spec.rounds) scenario.round(data);
      spec.iterate(turnOf(data));
    },

    /** @param {Begun} given */
    openLoop(given) {
      const data = enter(given);
      const intended = /** @type {any} */ (scenario.pace)();
      scenario.step(intended.offset);
      spec.iterate(turnOf(data, intended));
    },

    /** @param {Begun} given */
    teardown(given) {
      scenario.end(given);
      const data = ownData(given);
      evidence.after(data);
      keepCensus('loaded', census(panel, data));
      if (existing > 0) reportLeft(removeExisting(panel, data) ?? existing);
      removeUsers(panel, data);
      keepCensus('removed', census(panel, data));
    },

    handleSummary: scenario.summary,
  };
}

/** @param {Panel} panel @param {import('./panel.js').Session} session */
function removeUsers(panel, session) {
  const left = panel.removeRun(session);
  if (left !== null) return reportLeft(left);
  return console.error(
    `panel: users of run ${session.runId} could not be listed and may be left: their names begin with ${runPrefix(session.runId)}`,
  );
}

/** Names of a scenario's users. @param {string} group the scenario's, [a-z]{1,9} */
export const namesOf = (group) => (/** @type {string} */ runId, /** @type {number} */ index) =>
  userName(runPrefix(runId), group, index);

/** The most virtual users that a load has, and so the highest of their numbers. @param {import('../profiles.js').Load} load */
export function mostVus(load) {
  const counts = Object.values(load.scenarios).map(
    (/** @type {any} */ own) =>
      own.preAllocatedVUs ??
      Math.max(
        own.vus ?? own.startVUs ?? 1,
        ...(own.stages ?? []).map((/** @type {any} */ stage) => stage.target),
      ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
