/**
 * Turns a scenario's base load into k6 scenarios, by the profiles of k6/lists/profiles.json
 * (https://grafana.com/docs/k6/latest/using-k6/scenarios/executors/).
 *
 * Two kinds of load share the seven profiles. A request load has a closed loop (each client sends its next request after
 * the answer to the last one) and an open loop (a fixed rate). A client load has clients that hold connections, and only
 * the number of clients varies.
 */

import { textOf } from './file.js';
import { defaultOf, durationSeconds, envCount, envNumber, envTimes } from './variables.js';

// Scripts import these beside their load.
export { envChoice, envCount, envList, envNumber } from './variables.js';

/** @typedef {keyof typeof import('../k6/lists/profiles.json')} Profile */
/** @typedef {'smoke' | 'quick' | 'full'} Sized a profile whose size the scenario defines */
/**
 * @typedef {object} Meaning of a profile; k6/internal/profiles describes each field
 * @property {boolean} [sized]
 * @property {boolean} [fixed]
 * @property {number} quiet_s
 * @property {number} [limit_steps]
 * @property {Step[]} [steps]
 * @property {{ factors: number[], seconds: number }} [rounds]
 */
/** @typedef {import('k6/options').Scenario} K6Scenario */
/** @typedef {{ target: number, seconds: number }} Step load `target`, reached after `seconds` */
/** @typedef {{ start: number, steps: Step[] }} Schedule of an open loop, rates a second */

/**
 * @typedef {object} Load
 * @property {Record<string, K6Scenario>} scenarios for options.scenarios
 * @property {number} [iterations] planned iterations of the closed loop, if their number is fixed
 * @property {number} [iterationsEach] planned iterations of each client
 * @property {Schedule} [schedule] of the open loop
 * @property {number} seconds duration of a load that time ends; 0: iterations end it
 * @property {string[]} notes on parts of the profile that do not apply to this kind of load
 * @property {number} warmupSeconds of the open loop or of the client load; not recorded
 * @property {number} [times] factor by which a fixed number exceeds the profile's or the variable's number
 */

/** @type {Record<Profile, Meaning>} */
const LIST = JSON.parse(textOf(import.meta.resolve('../k6/lists/profiles.json')));

export const PROFILES = /** @type {Profile[]} */ (Object.keys(LIST));

/** Seconds at the start of an open loop that are not recorded, because connections are being opened. */
const WARMUP_SECONDS = 2;
const CLOSED_SECONDS = 30;
/** Longer than the longest request with the log-in or close after it, so that every request ends with an answer or a failure. */
const GRACE = '120s';

/**
 * Seconds for which a loop is recorded; 0 if iterations end it.
 * @param {Load} load @param {'closed' | 'open'} loop
 */
export function recordedSeconds({ iterations, schedule, seconds, warmupSeconds }, loop) {
  if (iterations !== undefined) return 0;
  if (!schedule) return seconds;
  const open = lengthOf(schedule.steps);
  // The open loop starts 1 s after the closed loop.
  return loop === 'open' ? open - warmupSeconds : Math.max(0, seconds - open - 1);
}

/** The profile of this run, from the variable PROFILE. @returns {Profile} */
export function currentProfile() {
  const name = __ENV.PROFILE || defaultOf('PROFILE');
  if (!PROFILES.includes(/** @type {Profile} */ (name))) {
    throw `PROFILE=${name}: unknown profile; choose one of ${PROFILES.join(', ')}`;
  }
  return /** @type {Profile} */ (name);
}

/** This profile, if it has a fixed number of requests; null: time ends it. @returns {'smoke' | 'quick' | null} */
export function fixedProfile() {
  const profile = currentProfile();
  return LIST[profile].fixed ? /** @type {'smoke' | 'quick'} */ (profile) : null;
}

/** This profile, if the scenario defines its size; null: one of the shapes (soak, stress and so on). @returns {Sized | null} */
export function sizedProfile() {
  const profile = currentProfile();
  return LIST[profile].sized ? /** @type {Sized} */ (profile) : null;
}

/** The quiet period after a load, seconds. */
export const quietSeconds = () => envNumber('QUIET_S', LIST[currentProfile()].quiet_s);

/** The rounds of this profile for a load of probes; undefined if the profile has no rounds. */
export const roundsOfProfile = () => LIST[currentProfile()].rounds;

/**
 * The size for this profile, in a scenario to which the shapes (soak, stress and so on) do not apply.
 * @template T
 * @param {Record<Sized, T>} sizes
 * @param {string} why the shapes do not apply
 * @returns {T}
 */
export function sizesOf(sizes, why) {
  const sized = sizedProfile();
  if (sized) return sizes[sized];
  throw `PROFILE=${currentProfile()}: ${why}; choose smoke, quick or full`;
}

/** The steps of this profile's shape, as multiples of the base load. @returns {Step[]} */
function profileSteps() {
  const { steps = [] } = LIST[currentProfile()];
  const planned = steps.reduce((sum, step) => sum + step.seconds, 0);
  const factor = durationSeconds(planned) / planned;
  return steps.map((step) => ({
    target: step.target,
    seconds: Math.round(step.seconds * factor * 1000) / 1000,
  }));
}

/** The steps of a run that searches the limit; undefined in other profiles. @param {Load} load */
export function limitSteps(load) {
  const { limit_steps: count } = LIST[currentProfile()];
  return count ? { count, seconds: load.seconds / count } : undefined;
}

/** @param {Step[]} steps */
const lengthOf = (steps) => steps.reduce((sum, step) => sum + step.seconds, 0);

/** @param {number} seconds */
const asDuration = (seconds) => `${Math.round(seconds * 1000)}ms`;

/** A load that iterations end, unless it says otherwise. @param {Pick<Load, 'scenarios'> & Partial<Load>} own @returns {Load} */
export const loadOf = (own) => ({ seconds: 0, notes: [], warmupSeconds: 0, ...own });

/**
 * A fixed number of iterations, divided evenly among the clients, as in the reference documents.
 * @param {number} clients
 * @param {number} iterations
 * @returns {Load}
 */
function fixedLoad(clients, iterations) {
  const times = envTimes();
  const each = Math.ceil(iterations / clients) * times;
  return loadOf({
    scenarios: {
      closed: {
        executor: 'per-vu-iterations',
        vus: clients,
        iterations: each,
        maxDuration: '10m',
        gracefulStop: GRACE,
      },
    },
    iterations: each * clients,
    iterationsEach: each,
    times,
  });
}

/**
 * Usual keep-alive timeouts of servers, s: gunicorn 2; uvicorn, Node.js and Apache 5; then 10, 15, 60, and nginx 75.
 */
const KEEP_ALIVES = [2, 5, 10, 15, 60, 75];
/** A request this close to a timeout, as a share of the timeout, may meet a connection that is closing. */
const NEAR = 0.15;

/**
 * The number of virtual users of an open loop. Each user has a connection and sends a request every `vus / rate` seconds.
 * The number keeps this period away from the usual keep-alive timeouts.
 * @param {number} rate requests per second at the peak
 * @param {number} vus minimum
 */
function awayFromTimeouts(rate, vus) {
  const near = (/** @type {number} */ count) =>
    KEEP_ALIVES.some((timeout) => Math.abs(count / rate - timeout) < timeout * NEAR - 1e-9);
  let count = vus;
  while (near(count)) count += 1;
  return count;
}

/**
 * @param {Step[]} steps
 * @param {number} rate
 * @param {number} startSeconds
 * @returns {Load}
 */
function openLoad(steps, rate, startSeconds) {
  const [first, ...rest] =
    steps[0].seconds === 0 ? steps : [{ target: steps[0].target, seconds: 0 }, ...steps];
  const toRate = (/** @type {number} */ target) => Math.max(1, Math.round(target * rate));
  const peak = Math.max(...steps.map((step) => toRate(step.target)));
  // Enough users for a stall of 1.5 s at the peak without a dropped iteration.
  const vus = Math.min(2000, awayFromTimeouts(peak, Math.ceil(peak * 1.5) + 10));
  const schedule = {
    start: toRate(first.target),
    steps: rest.map((step) => ({ target: toRate(step.target), seconds: step.seconds })),
  };
  return loadOf({
    scenarios: {
      open: {
        ...arrivals(schedule),
        exec: 'openLoop',
        timeUnit: '1s',
        preAllocatedVUs: vus,
        maxVUs: vus,
        startTime: asDuration(startSeconds),
        gracefulStop: GRACE,
      },
    },
    schedule,
    seconds: startSeconds + lengthOf(steps),
    warmupSeconds: Math.min(WARMUP_SECONDS, lengthOf(steps) / 4),
  });
}

/** Whether a schedule has one constant rate. @param {Schedule} schedule */
export const isConstant = ({ start, steps }) => steps.every((step) => step.target === start);

/** The executor of a schedule, and its rates. @param {Schedule} schedule @returns {any} */
function arrivals(schedule) {
  if (isConstant(schedule)) {
    return {
      executor: 'constant-arrival-rate',
      rate: schedule.start,
      duration: asDuration(lengthOf(schedule.steps)),
    };
  }
  const stages = schedule.steps.map((step) => ({ target: step.target, duration: asDuration(step.seconds) }));
  return { executor: 'ramping-arrival-rate', startRate: schedule.start, stages };
}

/**
 * Load for a scenario of single requests.
 * @param {{ clients: number, smoke: number, quick: number, rate: number }} base clients and iterations of
 *   the closed loop, requests per second of the open loop
 * @param {string} iterationsVariable the environment variable that overrides the iterations
 * @returns {Load}
 */
export function requestLoad(base, iterationsVariable) {
  const clients = envCount('CLIENTS', base.clients);
  const fixed = fixedProfile();
  if (fixed) return fixedLoad(clients, envCount(iterationsVariable, base[fixed]));
  const rate = envNumber('RATE', base.rate);
  if (!sizedProfile()) return openLoad(profileSteps(), rate, 0);
  const closedSeconds = durationSeconds(CLOSED_SECONDS);
  const open = openLoad(profileSteps(), rate, closedSeconds + 1);
  const closed = /** @type {K6Scenario} */ ({
    executor: 'constant-vus',
    vus: clients,
    duration: asDuration(closedSeconds),
    gracefulStop: GRACE,
  });
  return { ...open, scenarios: { closed, ...open.scenarios } };
}

/**
 * Load for a scenario whose clients hold connections.
 * @param {{ clients: number, smoke: number, quick: number, peak: number }} base clients, total iterations, and the clients
 *   of the base load of the longer profiles
 * @param {string} iterationsVariable the environment variable that overrides the iterations
 * @returns {Load}
 */
export function clientLoad(base, iterationsVariable) {
  const fixed = fixedProfile();
  if (fixed) return fixedLoad(envCount('CLIENTS', base.clients), envCount(iterationsVariable, base[fixed]));
  const clients = envCount('CLIENTS', base.peak);
  const steps = profileSteps();
  const toClients = (/** @type {number} */ target) => Math.max(1, Math.round(target * clients));
  return loadOf({
    scenarios: {
      closed: {
        executor: 'ramping-vus',
        startVUs: toClients(steps[0].target),
        stages: steps.map((step) => ({ target: toClients(step.target), duration: asDuration(step.seconds) })),
        gracefulStop: GRACE,
        gracefulRampDown: GRACE,
      },
    },
    seconds: lengthOf(steps),
    notes: [
      `${currentProfile()}: this load has no open loop, since clients that wait have no send time to be late against; the number of clients is what varies`,
    ],
  });
}

/** The maximum number of virtual users of a k6 scenario. @param {any} scenario */
const mostOfScenario = ({ vus = 0, startVUs = 0, maxVUs = 0, stages = [] }) =>
  Math.max(vus, startVUs, maxVUs, ...stages.map((/** @type {any} */ { target }) => (maxVUs ? 0 : target)));

/** Clients of the loop with the fewest clients. More runners than that would leave one idle. @param {Load} load */
export const leastClients = (load) => Math.min(...Object.values(load.scenarios).map(mostOfScenario));

/** The maximum number of virtual users at once, for resources that each user needs. @param {Load} load */
export const mostClients = (load) => Math.max(...Object.values(load.scenarios).map(mostOfScenario));

/** The total number of virtual users of a load, which is also their highest number. @param {Load} load */
export const mostVus = (load) =>
  Object.values(load.scenarios).reduce((sum, scenario) => sum + mostOfScenario(scenario), 0);

/**
 * The intended load at a time within a shape: requests per second of an open loop, else a number of clients. Undefined if
 * the load has no shape.
 * @param {Load} load
 * @param {number} seconds
 */
export function loadAt(load, seconds) {
  const { closed } = /** @type {any} */ (load.scenarios);
  const stages = (closed?.stages ?? []).map((/** @type {any} */ stage) => ({
    target: stage.target,
    seconds: parseFloat(stage.duration) / 1000,
  }));
  const shape = load.schedule ?? (closed?.stages && { start: closed.startVUs, steps: stages });
  if (!shape) return undefined;
  let from = shape.start;
  let left = seconds;
  for (const step of shape.steps) {
    if (left < step.seconds) return from + ((step.target - from) * left) / step.seconds;
    left -= step.seconds;
    from = step.target;
  }
  return from;
}
