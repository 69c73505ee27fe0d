/**
 * Records what happened: the metrics of every scenario, which the module k6/x/windtunnel/record (Go) gives to k6 and keeps
 * for the result. Tags are bounded: `operation` and `kind` here, testid, system, scenario and profile for the whole run.
 *
 * | metric                  | type    | unit  | what                                                     |
 * |-------------------------|---------|-------|----------------------------------------------------------|
 * | operation_ms            | trend   | ms    | latency of each success                                  |
 * | operation_failed        | rate    | share | one sample a request: did it fail                        |
 * | operation_errors        | counter | count | errors by kind; more than one may fall on a request      |
 * | operation_anomalies     | counter | count | what is wrong without being a failed request, such as duplicates |
 * | operation_items         | counter | count | what the successes carried: messages of a batch, else 1 each; none where k6's own `iterations` counts the same |
 * | operation_lateness_ms   | trend   | ms    | how late the generator was: send after the intended time, or event handled after it came off the socket |
 * | rounds_begun            | counter | count | iterations that account for something at their end      |
 * | target_silent_since_ms  | gauge   | ms    | when the target fell silent, where the run was stopped for it (lib/silence.js) |
 * | cleanup_left            | counter | count | things that the run made and could not remove (lib/leftovers.js) |
 * | cleanup_unknown         | counter | count | times that nobody could look what is left                |
 *
 * Of the record alone, by operation:
 *
 * | operation_error_details | counter | count | what came back with errors, by `kind` and `detail`, such as HTTP 202 |
 * | operation_begun         | counter | count | requests sent; those without an end are cut              |
 * | operation_far_end       | counter | count | what far ends counted: `count` names it, `of` is `least`, `found`, `missing` or `beyond` |
 * | operation_clock_ms      | gauge   | ms    | starts and ends on the test's clock; min and max make the window |
 */
import { Operation as Recorder, Counter, once } from 'k6/x/windtunnel/record';
import { answered, failedWith } from './silence.js';

const begun = new Counter('rounds_begun');

/** What k6 calls the samples of one operation. @param {string} metric @param {string} operation */
export const submetric = (metric, operation) => `${metric}{operation:${operation}}`;

/** Records one operation of a scenario: a row of its table. */
export class Operation {
  /**
   * @param {string} name a row's name, [a-z_]+
   * @param {{ uncounted?: boolean, bounded?: boolean }} [kind] `uncounted`: each iteration of a k6 scenario is one such
   *   operation that carries one item, and k6 counts them. `bounded`: time bounds the run, so that its rate is over the
   *   planned time, which the end of a failure does not widen
   */
  constructor(name, kind) {
    this.name = name;
    this.recorder = new Recorder(name, kind);
  }

  /** Before a request is sent: one that never comes to a success or a failure was cut. */
  begin() {
    this.recorder.begin();
  }

  /**
   * @param {number} startedAt now() at the start, or the intended start in an open loop
   * @param {number} endedAt now() at the end
   * @param {number} [ms] latency, where it is known better than by the difference
   * @param {number} [carried] how many items it carried
   */
  success(startedAt, endedAt, ms = endedAt - startedAt, carried = 1) {
    this.recorder.success(startedAt, endedAt, ms, carried);
    answered();
  }

  /**
   * @param {import('./errors.js').ErrorKind} kind
   * @param {number} startedAt
   * @param {number} endedAt
   * @param {string} [detail] what came back, in few words of which there are few: it is counted, and said once in the log
   */
  failure(kind, startedAt, endedAt, detail) {
    this.recorder.failure(kind, startedAt, endedAt, detail);
    this.tell(kind, detail);
    failedWith(kind, startedAt, endedAt);
  }

  /**
   * The one or the other.
   * @param {import('./errors.js').ErrorKind | null | undefined} failure none: a success
   * @param {number} startedAt
   * @param {number} endedAt
   * @param {string} [detail]
   */
  ended(failure, startedAt, endedAt, detail) {
    if (failure) this.failure(failure, startedAt, endedAt, detail);
    else this.success(startedAt, endedAt);
  }

  /** Something wrong that is not a failed request, such as a duplicate. @param {import('./errors.js').ErrorKind} kind @param {number} count @param {string} [detail] */
  anomaly(kind, count, detail) {
    this.recorder.anomaly(kind, count, detail);
    this.tell(kind, detail);
  }

  /** @param {string} kind @param {string} [detail] */
  tell(kind, detail) {
    const line = `${this.name}: ${kind}: ${detail}`;
    if (detail && once(line)) console.warn(line);
  }

  /** @param {number} ms how late the generator was */
  late(ms) {
    this.recorder.late(ms);
  }
}

/** At the start of an iteration that is accounted for at its end, so that one which never gets there is noticed. */
export function beginRound() {
  begun.add(1);
}
