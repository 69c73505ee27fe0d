/**
 * The profile breakpoint: the load rises in steps, and the limit is the last step
 * before the first that did not hold. Each step is judged by its own samples: over
 * the whole run, the easy steps would hide the one that broke.
 */
import { invalidReasons, reasonOf } from './reasons.js';
import { ms, share } from './numbers.js';
import { submetric } from './thresholds.js';
import { PROCESSES } from './validity.js';

/** A step holds while at most this share of its requests fails, */
const FAILED_MOST = 0.05;
/** and this share of them is faster than the operation's own p(95) bound. */
const SHARE = 'p(95)';
/** Checks that a step which is too much for the system cannot hold. */
const BY_STEP = ['samples', 'dropped', 'interrupt', 'system'];
const NONE_BROKE = 'every step held: the limit is above the highest load of this run, or the run ended early';

/**
 * @typedef {import('./environment.js').Bounds} Bounds
 * @typedef {import('./result.js').Metrics} Metrics
 * @typedef {{ count: number, seconds: number }} Steps how many there are, and how long each lasts
 */

/** @param {string} metric @param {string} operation @param {number} step */
const ofStep = (metric, operation, step) => submetric(metric, operation).replace('}', `,step:${step}}`);

/**
 * k6's thresholds for the steps. The run ends early only once a step is beyond
 * doubt: its median above the bound, or half of its requests failed.
 * @param {Record<string, Bounds>} bounds of the operations
 * @param {Steps} steps
 */
export function limitThresholds(bounds, steps) {
  const stop = (/** @type {string} */ threshold) => ({ threshold, abortOnFail: true, delayAbortEval: '5s' });
  /** @type {Record<string, any[]>} */
  const thresholds = {};
  for (let step = 0; step < steps.count; step += 1) {
    for (const [name, bound] of Object.entries(bounds)) {
      const most = bound[SHARE];
      if (most !== undefined) thresholds[ofStep('operation_ms', name, step)] = [stop(`med<${most}`)];
      thresholds[ofStep('operation_failed', name, step)] = [stop('rate<=0.5')];
    }
  }
  return thresholds;
}

/** What one operation did in one step; undefined where it did nothing. @param {Metrics} metrics @param {string} name @param {number} step @param {Bounds} bound */
function operationInStep(metrics, name, step, bound) {
  const failed = metrics[ofStep('operation_failed', name, step)]?.values;
  const latency = metrics[ofStep('operation_ms', name, step)]?.values ?? { count: 0 };
  if (!failed || failed.passes + failed.fails === 0) return undefined;
  const most = bound[SHARE];
  const slow = most !== undefined && latency.count > 0 && latency[SHARE] >= most;
  const time = latency.count > 0 ? `P95 ${ms(latency[SHARE])} ms` : 'no success';
  return {
    holds: !slow && failed.rate <= FAILED_MOST && latency.count > 0,
    text: `${name} ${time}, ${share(failed.rate)} failed`,
  };
}

/**
 * @param {Metrics} metrics
 * @param {Record<string, Bounds>} bounds
 * @param {Steps} steps
 * @param {(step: number) => string} loadOf how a step's load is written
 */
function stepsOf(metrics, bounds, steps, loadOf) {
  return Array.from({ length: steps.count }, (_, step) => {
    const rows = Object.entries(bounds).map(([name, bound]) => operationInStep(metrics, name, step, bound));
    const found = rows.filter((row) => row !== undefined);
    const holds = found.every((row) => row.holds);
    const text = `step ${step + 1}, ${loadOf(step)}: ${found.map((row) => row.text).join('; ')}: ${holds ? 'held' : 'did not hold'}`;
    return { step, measured: found.length > 0, holds, text };
  }).filter((row) => row.measured);
}

/**
 * Notes and verdict of a run that looks for the limit. Finding it is what the run is
 * for; not holding even the first step is a failure, and so is a system that ended instead of refusing.
 * @param {Metrics} metrics
 * @param {Record<string, Bounds>} bounds
 * @param {Steps} steps
 * @param {(step: number) => string} loadOf
 * @param {import('./validity.js').Check[]} validity
 * @returns {{ notes: string[], verdict: 'pass' | 'fail' | 'inconclusive', reasons: import('./reasons.js').Reason[] }}
 */
export function findLimit(metrics, bounds, steps, loadOf, validity) {
  const rows = stepsOf(metrics, bounds, steps, loadOf);
  const broken = rows.find((row) => !row.holds);
  const notes = rows.slice(0, broken ? broken.step + 1 : rows.length).map((row) => row.text);
  if (rows.length === 0)
    return { notes, verdict: 'inconclusive', reasons: [reasonOf('empty', 'nothing was measured')] };
  if (broken?.step === 0) {
    const reasons = [reasonOf('limit', `not even the first step held: ${broken.text}`)];
    return { notes, verdict: 'fail', reasons };
  }
  const ended = invalidReasons(validity.filter(({ check }) => check === PROCESSES));
  if (ended.length > 0) return { notes, verdict: 'fail', reasons: ended };
  const reasons = invalidReasons(validity.filter(({ kind }) => !BY_STEP.includes(kind)));
  if (!broken) reasons.push(reasonOf('limit', NONE_BROKE));
  else notes.push(`the limit: ${loadOf(broken.step - 1)} held, ${loadOf(broken.step)} did not`);
  return { notes, verdict: reasons.length === 0 ? 'pass' : 'inconclusive', reasons };
}
