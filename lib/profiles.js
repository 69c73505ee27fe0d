/**
 * How hard and how long: turns a scenario's base figures into k6 scenarios, by the profiles of k6/lists/profiles.json
 * (https://grafana.com/docs/k6/latest/using-k6/scenarios/executors/).
 *
 * Two families share the seven profiles. A request load has a closed loop (each
 * client sends its next request when the last one is answered) and an open loop
 * (a fixed rate). A client load has clients that each hold connections, and only
 * their number can be varied.
 */

import { pathOf } from './file.js';
import { defaultOf, durationSeconds, envCount, envNumber, envTimes } from './variables.js';

// For scripts, which read their variables beside their load.
export { durationSeconds, envChoice, envCount, envList, envNumber, envText } from './variables.js';

/** @typedef {keyof typeof import('../k6/lists/profiles.json')} Profile */
/** @typedef {'smoke' | 'quick' | 'full'} Sized a profile of which a scenario says itself how much it is */
/**
 * @typedef {object} Meaning of a profile: k6/internal/profiles says what each field is
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
 * @property {number | undefined} iterations how many are planned in the closed loop, where that is fixed
 * @property {number | undefined} iterationsEach the same, of each client
 * @property {Schedule | undefined} schedule of the open loop
 * @property {number} seconds how long the load lasts, where time bounds it; 0 where iterations do
 * @property {string[]} notes on what the profile does not mean for this kind of load
 * @property {number} warmupSeconds of the open loop or of the client load, not recorded
 * @property {number} [times] of a fixed number: how many times as much it is as the profile or its variable says
 */

/** @type {Record<Profile, Meaning>} */
const LIST = JSON.parse(open(pathOf(import.meta.resolve('../k6/lists/profiles.json'))));

export const PROFILES = /** @type {Profile[]} */ (Object.keys(LIST));

/** Open-loop seconds at the start that are not recorded: connections are being opened. */
const WARMUP_SECONDS = 2;
const CLOSED_SECONDS = 30;
/** More than the longest request, and what a client does after it (a log-in, a close): what was begun is answered, or fails. */
const GRACE = '120s';

/**
 * Seconds that a loop of a load lasts and is recorded; 0 where its iterations bound it.
 * @param {Load} load @param {'closed' | 'open'} loop
 */
export function recordedSeconds({ iterations, schedule, seconds, warmupSeconds }, loop) {
  if (iterations !== undefined) return 0;
  if (!schedule) return seconds;
  const open = lengthOf(schedule.steps);
  // A second lies between the two loops.
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

/** This profile, where it is a fixed number of requests; null: time bounds it. @returns {'smoke' | 'quick' | null} */
export function fixedProfile() {
  const profile = currentProfile();
  return LIST[profile].fixed ? /** @type {'smoke' | 'quick'} */ (profile) : null;
}

/** This profile, where a scenario says itself how much it is; null: one of the shapes. @returns {Sized | null} */
export function sizedProfile() {
  const profile = currentProfile();
  return LIST[profile].sized ? /** @type {Sized} */ (profile) : null;
}

/** The quiet period after a load of this profile, seconds. */
export const quietSeconds = () => LIST[currentProfile()].quiet_s;

/** The rounds of this profile for what a probe measures; undefined where it has none. */
export const roundsOfProfile = () => LIST[currentProfile()].rounds;

/**
 * What this profile asks of a scenario that the shapes (soak, stress and so on) do not fit.
 * @template T
 * @param {Record<Sized, T>} sizes
 * @param {string} why they do not
 * @returns {T}
 */
export function sizesOf(sizes, why) {
  const sized = sizedProfile();
  if (sized) return sizes[sized];
  throw `PROFILE=${currentProfile()}: ${why}; choose smoke, quick or full`;
}

/** The steps of this profile, a shape, as multiples of the base load. @returns {Step[]} */
function profileSteps() {
  const { steps = [] } = LIST[currentProfile()];
  const planned = steps.reduce((sum, step) => sum + step.seconds, 0);
  const factor = durationSeconds(planned) / planned;
  return steps.map((step) => ({
    target: step.target,
    seconds: Math.round(step.seconds * factor * 1000) / 1000,
  }));
}

/** The steps of a run that looks for the limit; undefined in another profile. @param {Load} load */
export function limitSteps(load) {
  const { limit_steps: count } = LIST[currentProfile()];
  return count ? { count, seconds: load.seconds / count } : undefined;
}

/** @param {Step[]} steps */
const lengthOf = (steps) => steps.reduce((sum, step) => sum + step.seconds, 0);

/** @param {number} seconds */
const asDuration = (seconds) => `${Math.round(seconds * 1000)}ms`;

/**
 * A fixed number of iterations, dealt evenly to the clients, so that each client
 * has its own share as in the reference documents.
 * @param {number} clients
 * @param {number} iterations
 * @returns {Load}
 */
function fixedLoad(clients, iterations) {
  const times = envTimes();
  const each = Math.ceil(iterations / clients) * times;
  return {
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
    schedule: undefined,
    seconds: 0,
    notes: [],
    warmupSeconds: 0,
    times,
  };
}

/**
 * Usual keep-alive time-outs of servers, s: gunicorn 2; uvicorn, Node.js and Apache 5; then 10, 15, 60, and nginx 75.
 */
const KEEP_ALIVES = [2, 5, 10, 15, 60, 75];
/** So near to a time-out, as a share of it, a request may meet a connection that is being closed. */
const NEAR = 0.15;

/**
 * Each virtual user of an open loop has a connection, and its turn every `vus / rate` seconds: as many users as keep this
 * period away from the usual keep-alive time-outs.
 * @param {number} rate a second, at the peak
 * @param {number} vus at least
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
  // Room for a stall of a second and a half at the peak before an iteration is dropped.
  const vus = Math.min(2000, awayFromTimeouts(peak, Math.ceil(peak * 1.5) + 10));
  const schedule = {
    start: toRate(first.target),
    steps: rest.map((step) => ({ target: toRate(step.target), seconds: step.seconds })),
  };
  return {
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
    iterations: undefined,
    iterationsEach: undefined,
    schedule,
    seconds: startSeconds + lengthOf(steps),
    notes: [],
    warmupSeconds: Math.min(WARMUP_SECONDS, lengthOf(steps) / 4),
  };
}

/** Whether a schedule keeps one rate throughout. @param {Schedule} schedule */
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
 *   the closed loop, requests a second of the open loop
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
 * @param {{ clients: number, smoke: number, quick: number, peak: number }} base clients, iterations in
 *   all, and the clients of the base load of the longer profiles
 * @param {string} iterationsVariable the environment variable that overrides the iterations
 * @returns {Load}
 */
export function clientLoad(base, iterationsVariable) {
  const fixed = fixedProfile();
  if (fixed) return fixedLoad(envCount('CLIENTS', base.clients), envCount(iterationsVariable, base[fixed]));
  const clients = envCount('CLIENTS', base.peak);
  const steps = profileSteps();
  const toClients = (/** @type {number} */ target) => Math.max(1, Math.round(target * clients));
  return {
    scenarios: {
      closed: {
        executor: 'ramping-vus',
        startVUs: toClients(steps[0].target),
        stages: steps.map((step) => ({ target: toClients(step.target), duration: asDuration(step.seconds) })),
        gracefulStop: GRACE,
        gracefulRampDown: GRACE,
      },
    },
    iterations: undefined,
    iterationsEach: undefined,
    schedule: undefined,
    seconds: lengthOf(steps),
    notes: [
      `${currentProfile()}: this load has no open loop, since clients that wait have no send time to be late against; the number of clients is what varies`,
    ],
    warmupSeconds: 0,
  };
}

/** The most virtual users of a k6 scenario at once. @param {any} scenario */
const mostOfScenario = ({ vus = 0, startVUs = 0, maxVUs = 0, stages = [] }) =>
  Math.max(vus, startVUs, maxVUs, ...stages.map((/** @type {any} */ { target }) => (maxVUs ? 0 : target)));

/** Clients of the loop that has fewest: with more runners than that, one would do nothing. @param {Load} load */
export const leastClients = (load) => Math.min(...Object.values(load.scenarios).map(mostOfScenario));

/** The most virtual users that a load has at once, for what each of them needs of its own. @param {Load} load */
export function mostClients(load) {
  const all = /** @type {any[]} */ (Object.values(load.scenarios));
  const counts = all.flatMap(({ vus = 0, startVUs = 0, stages = [] }) => [
    vus,
    startVUs,
    ...stages.map((/** @type {any} */ stage) => stage.target),
  ]);
  return Math.max(...counts);
}

/** The most virtual users that a load has, and so the highest of their numbers. @param {Load} load */
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

/**
 * The load that was meant after so many seconds of a shape: a rate a second in an
 * open loop, else a number of clients. Undefined where the load has no shape.
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
