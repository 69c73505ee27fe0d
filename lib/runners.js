/**
 * A run of several k6 processes, called runners. One runner sets up for all, all start their load at the same time, and
 * one cleans up after all. COORDINATOR_URL is set in such a run. docs/how-to/runners.md describes the protocol.
 */
import * as runner from 'k6/x/windtunnel/runner';
import { beginTogether, endTogether } from './at-once.js';

/** Time that setup() and teardown() may wait for other runners, s. The coordinator has a shorter limit and reports it. */
const WAIT_S = 86_400;
/** A load that ends earlier than planned by more than this, ms, was stopped. */
const EARLY_MS = 500;

/** Whether this k6 is a runner, even if it is the only one. */
export const many = () => runner.many();

/** Extra time for setup() and teardown() to wait for other runners, s. */
export const waitSeconds = () => (many() ? WAIT_S : 0);

/**
 * The thresholds of a runner. Of several runners, each keeps only the thresholds that abort a run: a part of the load need not meet the others.
 * @param {Record<string, any[]>} all
 * @returns {Record<string, any[]>}
 */
export function partOf(all) {
  if (!many()) return all;
  const aborting = Object.entries(all).map(([metric, thresholds]) => [
    metric,
    thresholds.filter(({ abortOnFail }) => abortOnFail),
  ]);
  return Object.fromEntries(aborting.filter(([, thresholds]) => thresholds.length > 0));
}

/**
 * In setup(): the result of `make`, which only one runner calls.
 * @template T
 * @param {() => string} definition of the test: must be the same text in all runners
 * @param {() => T} make
 * @returns {T}
 */
export function madeOnce(definition, make) {
  if (!many()) return make();
  return runner.setsUp(definition()) ? runner.made(make()) : runner.data();
}

/** In setup(): waits for the common start of the load, of all runners or of both sides. */
export function startTogether() {
  if (many()) runner.start();
  beginTogether();
}

/**
 * In teardown(): one runner calls `cleanUp`, after the load of all runners, and of both sides of a pair, has ended.
 * @param {number} planned end of this runner's load, ms since 1970 (k6 has no test clock in teardown()); 0: its iterations end it
 * @param {() => void} cleanUp
 */
export function cleanedOnce(planned, cleanUp) {
  endTogether();
  if (!many()) return cleanUp();
  const early = Date.now() < planned - EARLY_MS ? 'its load ended before its time' : '';
  if (!runner.tearsDown(early)) return undefined;
  let failed = 'its teardown() threw an exception';
  try {
    const cleaned = cleanUp();
    failed = '';
    return cleaned;
  } finally {
    runner.tornDown(failed);
  }
}

/** Stops the other runners. @param {string} why */
export const stopAll = (why) => runner.stopAll(why);

/** Reports that this runner will deliver no record. @param {string} why */
export function leave(why) {
  if (many()) runner.leave(why);
}

/**
 * Wraps handleSummary of a runner. k6 exits with 0 if handleSummary throws; a runner without a record must not.
 * @template T @param {() => T} summary
 */
export function orUndelivered(summary) {
  if (!many()) return summary();
  try {
    return summary();
  } catch (error) {
    runner.undelivered(String(/** @type {any} */ (error)?.message ?? error));
    return /** @type {T} */ ({}); // undelivered() has reported the reason and ends this k6
  }
}

/** @typedef {import('k6/x/windtunnel/judge').Evidence} Evidence */

/**
 * In handleSummary: delivers the record to the coordinator, which judges all records together. The runner that cleaned up
 * computes the scenario's sections from the metrics of all runners.
 * @param {(metrics: any) => Evidence} evidenceOf from the metrics of this runner, or of all
 * @param {any} k6Metrics of this runner
 * @param {any} measured recorded metrics of this runner
 * @param {number} zero of the test's clock, ms since 1970
 * @returns {{}} no files
 */
export function deliver(evidenceOf, k6Metrics, measured, zero) {
  const evidence = evidenceOf(measured);
  const hasSections = evidence.sections.length > 0;
  const ofAll = hasSections ? runner.draft(evidence, zero, k6Metrics) : null;
  runner.deliver(ofAll ? evidenceOf(ofAll) : evidence, zero);
  return {};
}
