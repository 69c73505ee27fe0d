/**
 * The load of probes that the sidecar runs. k6 runs one round after the other. In each round one probe goes through the
 * proxy and its control goes direct, so that a change on the machine affects both.
 */
import { currentProfile, loadOf, roundsOfProfile, sizedProfile } from '../profiles.js';
import { durationSeconds, envCount, envNumber, envTimes } from '../variables.js';

/**
 * @typedef {{ loop: 'closed', count: number, factor: number }} ClosedRound
 * @typedef {{ loop: 'open', rate: number, seconds: number, factor: number }} OpenRound
 * @typedef {ClosedRound | OpenRound} Round `factor` is the multiple of the base load
 */
/**
 * @template {Round} [R=Round]
 * @typedef {import('../profiles.js').Load & { rounds: R[] }} PlaneLoad
 */

/** Number of rounds that a fixed number of operations is divided into. */
const CLOSED_ROUNDS = { smoke: 2, quick: 4, full: 10 };
const OPEN_SECONDS = 10;
/** The sidecar's limit for one probe, less some seconds for its end, s. */
const PROBE_MOST_S = 3500;
export const SAMPLES_MOST = 4_000_000;

/**
 * The rounds of a shape. A shape has one multiple of the base load per round, and the seconds of all rounds. The proxy gets
 * half of the time, its control the other half.
 * @param {{ factors: number[], seconds: number }} shape
 * @param {string} profile
 * @returns {{ factor: number, seconds: number }[]}
 */
function shapeRounds({ factors, seconds }, profile) {
  const total = durationSeconds(seconds);
  if (profile !== 'soak') return factors.map((factor) => ({ factor, seconds: total / factors.length / 2 }));
  const count = Math.max(1, Math.round(total / (2 * OPEN_SECONDS)));
  return Array.from({ length: count }, () => ({ factor: 1, seconds: total / count / 2 }));
}

/** Closed rounds of equal size. @param {number} rounds @param {number} [count] operations of each @returns {ClosedRound[]} */
export const equalRounds = (rounds, count = 1) =>
  Array.from({ length: rounds }, () => ({ loop: 'closed', count, factor: 1 }));

/** @param {Round[]} rounds */
export const closedOf = (rounds) => rounds.filter((round) => round.loop === 'closed');

/** @param {Round[]} rounds */
export const openOf = (rounds) => rounds.filter((round) => round.loop === 'open');

/** Operations of all closed rounds. @param {Round[]} rounds */
export const plannedOf = (rounds) => closedOf(rounds).reduce((sum, { count }) => sum + count, 0);

/** The parameters that describe a run's open rounds; empty if it has none. @param {Round[]} rounds @returns {Record<string, number>} */
export function openParameters(rounds) {
  const open = openOf(rounds);
  if (open.length === 0) return {};
  return {
    peak_rate_per_s: Math.max(...open.map(({ rate }) => rate)),
    open_rounds: open.length,
    open_seconds: open.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

/**
 * The fields of a probe's spec for a round.
 * @param {Round} round
 * @param {number} [share] of an open round's operations that this probe makes
 */
export const probeOf = (round, share = 1) =>
  round.loop === 'closed'
    ? { count: round.count }
    : {
        loop: { open: { rate_per_s: round.rate } },
        count: Math.max(1, Math.round(round.rate * round.seconds * share)),
        limit_s: round.seconds + 30,
      };

/** A k6 load that runs these rounds. @template {Round} R @param {R[]} rounds @param {string[]} [notes] @returns {PlaneLoad<R>} */
export function roundsLoad(rounds, notes = []) {
  const iterations = rounds.length;
  // Closed rounds have no planned duration.
  const shaped = closedOf(rounds).length === 0;
  const seconds = shaped ? openOf(rounds).reduce((sum, round) => sum + 2 * round.seconds, 0) : 0;
  const load = loadOf({
    // An interrupt ends a round at once: teardown() cancels its probe.
    scenarios: {
      rounds: { executor: 'per-vu-iterations', vus: 1, iterations, maxDuration: '25h', gracefulStop: '0s' },
    },
    iterations,
    iterationsEach: iterations,
    seconds,
    notes,
  });
  return { ...load, rounds };
}

/**
 * Load of single operations: a fixed number in a closed loop, a rate in an open loop.
 * @param {{ smoke: number, quick: number, full: number, rate: number }} base number of operations, and operations per second
 * @param {string} countVariable variable that overrides the number
 * @returns {PlaneLoad}
 */
export function probeLoad(base, countVariable) {
  const profile = currentProfile();
  /** @type {ClosedRound[]} */
  let closed = [];
  const sized = sizedProfile();
  if (sized) {
    const rounds = CLOSED_ROUNDS[sized];
    const count = Math.ceil(envCount(countVariable, base[sized]) / rounds);
    closed = equalRounds(rounds * envTimes(), count);
  }
  const shape = roundsOfProfile();
  if (!shape) return { ...roundsLoad(closed), times: envTimes() };
  const rate = envNumber('RATE', base.rate);
  const open = shapeRounds(shape, profile).map(({ factor, seconds }) => ({
    loop: /** @type {const} */ ('open'),
    rate: rate * factor,
    seconds,
    factor,
  }));
  const large = open.find(
    (round) => round.seconds > PROBE_MOST_S || round.rate * round.seconds > SAMPLES_MOST,
  );
  if (large) {
    throw `a probe of ${Math.round(large.seconds)} s at ${Math.round(large.rate)} a second exceeds what one sidecar probe can measure (${PROBE_MOST_S} s, ${SAMPLES_MOST} samples): give a shorter DURATION or a lower RATE, or PROFILE=soak, which goes in short rounds`;
  }
  return { ...roundsLoad([...closed, ...open]), ...(closed.length > 0 ? { times: envTimes() } : {}) };
}

/**
 * Load of a scenario without a rate. Its profiles differ in the operations of a round and in the number of rounds. The
 * shapes multiply `what`.
 * @param {Record<'smoke' | 'quick' | 'full', { rounds: number, count: number }>} base
 * @param {string} what
 * @returns {PlaneLoad<ClosedRound>}
 */
export function repeatedLoad(base, what) {
  const sized = sizedProfile();
  if (sized) {
    const { rounds, count } = base[sized];
    const times = envTimes();
    return { ...roundsLoad(equalRounds(rounds * times, count)), times };
  }
  const profile = currentProfile();
  const { factors } = /** @type {{ factors: number[] }} */ (roundsOfProfile());
  const { count } = base.quick;
  const repeats = profile === 'soak' ? Math.max(1, Math.round(durationSeconds(1800) / 30)) : 1;
  const rounds = Array.from({ length: repeats }, () => factors).flat();
  return roundsLoad(
    rounds.map((factor) => ({ loop: 'closed', count, factor })),
    [`${profile}: ${what}`],
  );
}

/** A round's load in words. @param {Round} round */
export const loadOfRound = (round) =>
  round.loop === 'open' ? `${Math.round(round.rate)} operations a second` : `${round.factor} times the base`;
