/**
 * The metrics of every scenario, and the recorder that fills them. Tags are
 * bounded: `operation` and `kind` here, testid, system, scenario and profile for
 * the whole run.
 *
 * | metric                  | type    | unit  | what                                                     |
 * |-------------------------|---------|-------|----------------------------------------------------------|
 * | operation_ms            | trend   | ms    | latency of each success                                  |
 * | operation_failed        | rate    | share | one sample a request: did it fail                        |
 * | operation_errors        | counter | count | errors by kind; more than one may fall on a request      |
 * | operation_anomalies     | counter | count | what is wrong without being a failed request, such as duplicates |
 * | operation_items         | counter | count | what the successes carried: messages of a batch, else 1 each; none where k6's own `iterations` counts the same |
 * | operation_clock_ms      | gauge   | ms    | starts and ends on the test's clock; min and max make the window |
 * | operation_lateness_ms   | trend   | ms    | how late the generator was: send after the intended time, or event handled after it came off the socket |
 * | operation_begun         | counter | count | requests sent; those without an end are cut            |
 * | rounds_begun            | counter | count | iterations that account for something at their end      |
 * | target_silent_since_ms  | gauge   | ms    | when the target fell silent, where the run was stopped for it (lib/silence.js) |
 * | cleanup_left            | counter | count | things that the run made and could not remove            |
 */
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { answered, failedWith } from './silence.js';

export const latency = new Trend('operation_ms', true);
export const failed = new Rate('operation_failed');
export const errors = new Counter('operation_errors');
export const anomalies = new Counter('operation_anomalies');
export const items = new Counter('operation_items');
const clock = new Gauge('operation_clock_ms', true);
export const lateness = new Trend('operation_lateness_ms', true);
const sent = new Counter('operation_begun');
const cleanupLeft = new Counter('cleanup_left');
const begun = new Counter('rounds_begun');

const CLOCK_STEP_MS = 100;

/** Records one operation of a scenario: a row of its table. */
export class Operation {
  /**
   * @param {string} name a row's name, [a-z_]+
   * @param {{ planned: number | undefined, items: boolean }} [iteration] given where each iteration of a k6
   *   scenario is one such operation: how many of them a VU will do, and whether each carries many items. Then
   *   k6 tags its samples and counts it, which is cheaper
   * @param {boolean} [bounded] time bounds the run: its rate is over the planned time, which the end of a failure does
   *   not widen
   */
  constructor(name, iteration, bounded = false) {
    this.bounded = bounded;
    this.name = name;
    this.iteration = iteration;
    this.tags = iteration ? undefined : { operation: name };
    this.countsItems = !iteration || iteration.items;
    this.opened = false;
    this.clockedAt = -Infinity;
    this.count = 0;
  }

  /** Before a request is sent: one that never comes to a success or a failure was cut. */
  begin() {
    sent.add(1, this.tags);
  }

  /** Widens the window to a start. Only a VU's first start can be the earliest. @param {number} startedAt */
  open(startedAt) {
    if (this.opened) return;
    this.opened = true;
    clock.add(startedAt, this.tags);
  }

  /**
   * Widens the window to an end. Samples cost time, so of an operation that is a
   * whole iteration only an end each 100 ms is kept, and the last planned one: a
   * window that time bounds, or an interrupt cuts, may be 100 ms too short.
   * @param {number} endedAt
   */
  close(endedAt) {
    this.count += 1;
    const often = this.iteration && endedAt - this.clockedAt < CLOCK_STEP_MS;
    if (often && this.count !== this.iteration?.planned) return;
    this.clockedAt = endedAt;
    clock.add(endedAt, this.tags);
  }

  /**
   * @param {number} startedAt now() at the start, or the intended start in an open loop
   * @param {number} endedAt now() at the end
   * @param {number} [ms] latency, where it is known better than by the difference
   * @param {number} [carried] how many items it carried
   */
  success(startedAt, endedAt, ms = endedAt - startedAt, carried = 1) {
    this.open(startedAt);
    latency.add(ms, this.tags);
    if (this.countsItems) items.add(carried, this.tags);
    failed.add(false, this.tags);
    this.close(endedAt);
    answered();
  }

  /**
   * @param {import('./errors.js').ErrorKind} kind
   * @param {number} startedAt
   * @param {number} endedAt
   */
  failure(kind, startedAt, endedAt) {
    this.open(startedAt);
    failed.add(true, this.tags);
    errors.add(1, { operation: this.name, kind });
    if (!this.bounded) this.close(endedAt);
    failedWith(kind, startedAt, endedAt);
  }

  /** Something wrong that is not a failed request, such as a duplicate. @param {import('./errors.js').ErrorKind} kind @param {number} count */
  anomaly(kind, count) {
    if (count <= 0) return;
    errors.add(count, { operation: this.name, kind });
    anomalies.add(count, this.tags);
  }

  /** @param {number} ms how late the generator was */
  late(ms) {
    lateness.add(Math.max(0, ms), this.tags);
  }
}

/** At the start of an iteration that is accounted for at its end, so that one which never gets there is noticed. */
export function beginRound() {
  begun.add(1);
}

/** @param {number} count things that are still on the target */
export function reportLeft(count) {
  if (count > 0) cleanupLeft.add(count);
}
