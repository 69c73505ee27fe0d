/**
 * Records the metrics of every scenario. The module k6/x/windtunnel/record (Go) passes them to k6 and keeps them for the result.
 * Tags are bounded: `operation` and `kind` here, testid, system, scenario and profile for the whole run.
 *
 * | metric                  | type    | unit  | what                                                     |
 * |-------------------------|---------|-------|----------------------------------------------------------|
 * | operation_ms            | trend   | ms    | latency of each success                                  |
 * | operation_failed        | rate    | share | one sample per request: whether it failed                |
 * | operation_errors        | counter | count | errors by kind; a request may have several               |
 * | operation_anomalies     | counter | count | problems that are not failed requests, such as duplicates |
 * | operation_items         | counter | count | items of the successes: messages of a batch, else 1 each; not recorded if k6's own `iterations` counts the same |
 * | operation_lateness_ms   | trend   | ms    | lateness of the generator: from the intended time to the send, or from the socket to the handling of an event |
 * | rounds_begun            | counter | count | iterations that account for their results at the end    |
 * | target_silent_since_ms  | gauge   | ms    | start of the silence that stopped the run (lib/silence.js) |
 * | cleanup_left            | counter | count | things that the run created and could not remove (lib/leftovers.js) |
 * | cleanup_unknown         | counter | count | times that the run could not find out what is left       |
 *
 * In the record only, by operation:
 *
 * | operation_error_details | counter | count | answers with errors, by `kind` and `detail`, such as HTTP 202 |
 * | operation_begun         | counter | count | requests sent; those without an end were cut off         |
 * | operation_far_end       | counter | count | what far ends counted: `count` names it, `of` is `least`, `found`, `missing` or `beyond` |
 * | operation_clock_ms      | gauge   | ms    | starts and ends on the test's clock; min and max are the window |
 */
import { Operation as Recorder, Counter, once } from 'k6/x/windtunnel/record';
import { failedWith } from './silence.js';

const begun = new Counter('rounds_begun');

/** k6's name for the samples of one operation. @param {string} metric @param {string} operation */
export const submetric = (metric, operation) => `${metric}{operation:${operation}}`;

/** Records one operation of a scenario, which is one row of the table. */
export class Operation {
  /**
   * @param {string} name a row's name, [a-z_]+
   * @param {{ uncounted?: boolean, bounded?: boolean }} [kind] `uncounted`: each iteration of a k6 scenario is one such
   *   operation with one item, so k6 counts them. `bounded`: time ends the run, so the rate is over the planned time, and the
   *   end of a failure does not widen it
   */
  constructor(name, kind) {
    this.name = name;
    this.recorder = new Recorder(name, kind);
  }

  /** Call it before a request is sent. A request without success or failure was cut off. */
  begin() {
    this.recorder.begin();
  }

  /**
   * @param {number} startedAt now() at the start, or the intended start in an open loop
   * @param {number} endedAt now() at the end
   * @param {number} [ms] latency, if it is known more exactly than the difference
   * @param {number} [carried] number of items
   */
  success(startedAt, endedAt, ms = endedAt - startedAt, carried = 1) {
    this.recorder.success(startedAt, endedAt, ms, carried);
  }

  /**
   * @param {import('./errors.js').ErrorKind} kind
   * @param {number} startedAt
   * @param {number} endedAt
   * @param {string} [detail] a short text with few different values: it is counted, and logged once
   */
  failure(kind, startedAt, endedAt, detail) {
    this.recorder.failure(kind, startedAt, endedAt, detail);
    this.log(kind, detail);
    failedWith(kind, startedAt, endedAt);
  }

  /**
   * Records a failure or a success.
   * @param {import('./errors.js').ErrorKind | null | undefined} failure null or undefined: a success
   * @param {number} startedAt
   * @param {number} endedAt
   * @param {string} [detail]
   */
  ended(failure, startedAt, endedAt, detail) {
    if (failure) this.failure(failure, startedAt, endedAt, detail);
    else this.success(startedAt, endedAt);
  }

  /** Records a problem that is not a failed request, such as a duplicate. @param {import('./errors.js').ErrorKind} kind @param {number} count @param {string} [detail] */
  anomaly(kind, count, detail) {
    this.recorder.anomaly(kind, count, detail);
    this.log(kind, detail);
  }

  /** @param {string} kind @param {string} [detail] */
  log(kind, detail) {
    const line = `${this.name}: ${kind}: ${detail}`;
    if (detail && once(line)) console.warn(line);
  }

  /** @param {number} ms lateness of the generator */
  late(ms) {
    this.recorder.late(ms);
  }
}

/** Call it at the start of an iteration that accounts for its results at the end. An iteration that never ends is then noticed. */
export function beginRound() {
  begun.add(1);
}
