/**
 * A run of several k6 processes, its runners: one of them sets up for all, all begin at one time, one of them cleans up after
 * all. COORDINATOR_URL says that there are others; a run of one needs nobody. docs/runners.md tells how it goes.
 */
import * as runner from 'k6/x/windtunnel/runner';

/** So long may setup() and teardown() wait for other runners, s: the coordinator knows when to give up, and says so. */
const WAIT_S = 86_400;

/** Whether this k6 is one of several, or run as one. */
export const many = () => runner.many();

/** What setup() and teardown() may take more than their own work does, s. */
export const waitSeconds = () => (many() ? WAIT_S : 0);

/**
 * In setup(): what `make` returns, made by one runner for all.
 * @template T
 * @param {() => string} definition of the test: the same text in all runners
 * @param {() => T} make
 * @returns {T}
 */
export function madeOnce(definition, make) {
  if (!many()) return make();
  return runner.setsUp(definition()) ? runner.made(make()) : runner.data();
}

/** In setup(): waits for the time at which the load of all begins. */
export function startTogether() {
  if (many()) runner.start();
}

/**
 * In teardown(): `cleanUp`, by one runner, once the load of all has ended.
 * @param {string} early why this runner's load has ended before its time; '' where it has not
 * @param {() => void} cleanUp
 */
export function cleanedOnce(early, cleanUp) {
  if (!many()) return cleanUp();
  if (!runner.tearsDown(early)) return undefined;
  try {
    return cleanUp();
  } finally {
    runner.tornDown();
  }
}

/** The others stop too, since this runner does. @param {string} why */
export const stopAll = (why) => runner.stopAll(why);

/** There will be no record of this runner. @param {string} why */
export function leave(why) {
  if (many()) runner.leave(why);
}

/**
 * In handleSummary: the record goes to the coordinator, which judges all together.
 * @param {import('k6/x/windtunnel/judge').Evidence} evidence
 * @param {number} zero of the test's clock, ms since 1970
 */
export const deliver = (evidence, zero) => runner.deliver(evidence, zero);
