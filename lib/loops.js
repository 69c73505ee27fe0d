/** The closed and the open loop of a request load: their rows, and one function that serves both. */
import { now } from './clock.js';
import { ownData, ownScenario } from './execution.js';
import { timed, timedFrom } from './requests.js';

/**
 * @typedef {object} Row of a single request
 * @property {string} title
 * @property {number} least fewest items of a complete run with a fixed number of iterations
 * @property {string} [items] name of the items of a request, if a request has several
 * @property {boolean} [optional] a complete run may have no such request
 * @property {boolean} [alone] each iteration of the loop is exactly one such request
 */

/**
 * The rows of one kind of request: NAME for the closed loop and NAME_open for the open loop, if the profile has them.
 * @param {import('./profiles.js').Load} load
 * @param {string} name
 * @param {Row & { bounds?: import('./environment.js').Bounds }} row
 * @returns {Record<string, import('./scenario.js').Operations>}
 */
export function loopOperations(
  load,
  name,
  { title, least, items, alone, optional, bounds = { 'p(95)': 1000 } },
) {
  const closed = {
    title,
    latencyIs: 'from the first byte sent to the last byte received',
    bounds,
    least,
    items,
    ...(optional ? { optional } : {}),
  };
  const open = /** @type {const} */ ({
    ...closed,
    title: `${title}, open loop`,
    loop: 'open',
    latencyIs: 'from the intended send time to the last byte received',
  });
  return {
    ...(load.scenarios.closed ? { [name]: { ...closed, ...(alone ? { owns: 'closed' } : {}) } } : {}),
    ...(load.scenarios.open ? { [`${name}_open`]: { ...open, ...(alone ? { owns: 'open' } : {}) } } : {}),
  };
}

/** @param {import('./profiles.js').Load} load */
export const loadParameters = (load) => ({
  ...(load.iterations ? { iterations: load.iterations } : { seconds: load.seconds }),
  ...(load.schedule
    ? { peak_rate_per_s: Math.max(load.schedule.start, ...load.schedule.steps.map((step) => step.target)) }
    : {}),
});

/**
 * @template Data what setup() returned
 * @typedef {object} Turn one iteration of a loop
 * @property {Data} data
 * @property {number} index of the iteration in its loop
 * @property {boolean} open whether it is one of the open loop
 * @property {(name: string, status: number | null, send: () => Response, carried?: Carried) => void} time sends a request and
 *   records it as the operation `name`. The request succeeds with that status, or with any 2xx if the status is null. The
 *   open loop records it as `name`_open, from the intended start. Nothing is sent after the planned end
 */
/** @typedef {import('k6/http').RefinedResponse<any>} Response */
/**
 * Number of items that the system accepted according to its answer. null, or a text that says what is wrong, means that
 * the content is invalid. The operation records errors of single items.
 * @typedef {(response: Response, operation: import('./operations.js').Operation) => number | string | null} Carried
 */

/**
 * Builds a script's default function and its openLoop from the function for one iteration.
 * @template {import('./scenario.js').Begun} Data
 * @param {import('./scenario.js').Scenario} scenario
 * @param {(turn: Turn<Data>) => void} iterate
 * @param {() => void} [connect] called first in each client of the closed loop
 */
export function requestLoops(scenario, iterate, connect = () => {}) {
  let connected = false;

  /** Reuses one Turn object for all iterations of a VU, to save allocations. @param {boolean} open */
  const loop = (open) => {
    const ending = open ? '_open' : '';
    let endsAt = Infinity;
    /** @type {{ at: number, offset: number }} intended start of the open loop's iteration */
    let intended;
    /** @type {Turn<Data>} */
    const turn = {
      data: /** @type {any} */ (undefined),
      index: 0,
      open,
      time(name, status, send, carried) {
        if (endsAt !== Infinity && now() >= endsAt) return;
        const operation = scenario.operation(name + ending);
        const count = carried && ((/** @type {Response} */ response) => carried(response, operation));
        if (open) timedFrom(operation, status, send, intended, scenario.warmupMs, count);
        else timed(operation, status, send, count);
      },
    };
    /** @param {Data} given @param {{ at: number, offset: number }} [start] */
    return (given, start) => {
      turn.data = ownData(given);
      turn.index = ownScenario().iterationInTest;
      if (start) intended = start;
      else endsAt = scenario.endsAt(turn.data);
      iterate(turn);
    };
  };
  const closed = loop(false);
  const open = loop(true);

  return {
    /** @param {Data} given */
    closedLoop(given) {
      if (!connected) connect();
      connected = true;
      if (scenario.hasSteps) scenario.step(now() - ownData(given).loadFrom);
      closed(given);
    },

    /** @param {Data} given */
    openLoop(given) {
      const intended = scenario.intended();
      scenario.step(intended.offset);
      open(given, intended);
    },
  };
}
