/**
 * A run of several k6 processes, its runners: one of them sets up for all, all begin at one time, one of them cleans up after
 * all. COORDINATOR_URL says that there are others; a run of one needs nobody. docs/how-to/runners.md tells how it goes.
 */
import * as runner from 'k6/x/windtunnel/runner';

/** So long may setup() and teardown() wait for other runners, s: the coordinator knows when to give up, and says so. */
const WAIT_S = 86_400;
/** A load that ends so much before its time, ms, was stopped. */
const EARLY_MS = 500;

/** Whether this k6 is one of several, or run as one. */
export const many = () => runner.many();

/** What setup() and teardown() may take more than their own work does, s. */
export const waitSeconds = () => (many() ? WAIT_S : 0);

/**
 * The thresholds of a runner: of several, those that abort a run alone, since what is true of the whole need not be of a part.
 * @param {Record<string, any[]>} all
 * @returns {Record<string, any[]>}
 */
export function partOf(all) {
  if (!many()) return all;
  const aborting = Object.entries(all).map(([metric, own]) => [
    metric,
    own.filter(({ abortOnFail }) => abortOnFail),
  ]);
  return Object.fromEntries(aborting.filter(([, own]) => own.length > 0));
}

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
 * @param {number} planned when this runner's load was to end, ms since 1970 (k6 has no test clock in teardown()); 0 where its iterations end it
 * @param {() => void} cleanUp
 */
export function cleanedOnce(planned, cleanUp) {
  if (!many()) return cleanUp();
  const early = Date.now() < planned - EARLY_MS ? 'its load ended before its time' : '';
  if (!runner.tearsDown(early)) return undefined;
  let failed = 'its teardown() ended by an exception';
  try {
    const cleaned = cleanUp();
    failed = '';
    return cleaned;
  } finally {
    runner.tornDown(failed);
  }
}

/** The others stop too, since this runner does. @param {string} why */
export const stopAll = (why) => runner.stopAll(why);

/** There will be no record of this runner. @param {string} why */
export function leave(why) {
  if (many()) runner.leave(why);
}

/**
 * handleSummary of a runner: k6 ends with 0 where it throws, and a runner that left no record must not.
 * @template T @param {() => T} summary
 */
export function orUndelivered(summary) {
  if (!many()) return summary();
  try {
    return summary();
  } catch (error) {
    runner.undelivered(String(/** @type {any} */ (error)?.message ?? error));
    return /** @type {T} */ ({}); // it says why, and this k6 ends
  }
}

/** @typedef {import('k6/x/windtunnel/judge').Evidence} Evidence */

/**
 * In handleSummary: the record goes to the coordinator, which judges all together. What a scenario shows beside its operations is
 * made by the runner that cleaned up, of the figures of all.
 * @param {(metrics: any) => Evidence} evidenceOf by the figures of this runner, or of all
 * @param {any} own k6's metrics of this runner
 * @param {any} measured figures of this runner
 * @param {number} zero of the test's clock, ms since 1970
 * @returns {{}} no files
 */
export function deliver(evidenceOf, own, measured, zero) {
  const evidence = evidenceOf(measured);
  const says = evidence.sections.length > 0;
  const ofAll = says ? runner.draft(evidence, zero, own) : null;
  runner.deliver(ofAll ? evidenceOf(ofAll) : evidence, zero);
  return {};
}
