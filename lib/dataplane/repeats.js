/**
 * Repeats a part of a run that other programs disturbed, after they have gone. A part is repeated at most twice, and all
 * repeats together take at most as long as the measured parts plus some seconds. Only the CPU use of other programs on the
 * CPUs of the placement decides; the measured speed does not. Discarded parts are listed (`repeated` of the result) and
 * count in no figure. A part with a failure that a busy machine cannot cause is never discarded.
 */
import { now } from '../clock.js';
import { disturbances } from 'k6/x/windtunnel/judge';
import { drop, hold, isHeld, release } from 'k6/x/windtunnel/record';
import { envCount } from '../variables.js';
import { tryAsk } from '../meter.js';
import { awaitQuiet, look } from '../quiet.js';

/**
 * @typedef {import('k6/x/windtunnel/judge').CpuUsage} CpuUsage
 * @typedef {object} Machine the run's measuring window, divided into parts (sidecar/README.md)
 * @property {(name: string) => boolean} begin starts a part; false: the run has no window
 * @property {() => CpuUsage[]} used CPU use in the part so far
 * @property {() => boolean} drop discards the part's measurements; false: the part counts anyway
 * @property {() => CpuUsage[]} look measures the CPU use now, which takes a while
 */

/** @param {string | null} window @returns {Machine} */
export const partsOf = (window) => ({
  begin: (name) => window !== null && tryAsk('POST', `/windows/${window}/part`, { name }) !== null,
  used: () => tryAsk('GET', `/windows/${window}/part`)?.by_cpu ?? [],
  drop: () => tryAsk('DELETE', `/windows/${window}/part`) !== null,
  look,
});

/** Time for waits and repeats, in addition to the measured time, ms. */
const SPARE_MS = 20_000;

export class Repeats {
  /**
   * @param {Machine} machine
   * @param {import('k6/x/windtunnel/judge').Placement} placement
   * @param {boolean} [stays] whether an earlier wait for a quiet machine failed
   */
  constructor(machine, placement, stays = false) {
    this.machine = machine;
    this.placement = placement;
    this.stays = stays;
    this.most = envCount('AGAIN');
    this.inside = false;
    /** Milliseconds of the parts that count (`counted`), and of waits and discarded parts (`spent`). */
    this.counted = 0;
    this.spent = 0;
  }

  /**
   * Measures a part. A part inside another part belongs to the outer one.
   * @template T
   * @param {string} name
   * @param {(again: number) => T} measure
   * @returns {T} what the last measurement returned
   */
  part(name, measure) {
    if (this.inside || !this.machine.begin(name)) return measure(0);
    this.inside = true;
    try {
      for (let again = 0; ; again += 1) {
        hold();
        const from = now();
        const measured = measure(again);
        const took = now() - from;
        const disturbed = isHeld() && disturbances(this.machine.used(), this.placement).length > 0;
        this.stays &&= disturbed;
        if (!disturbed || !this.mayRepeat(again, took) || !this.machine.drop()) {
          this.counted += took;
          return measured;
        }
        drop();
        this.spent += took;
        this.machine.begin(name);
      }
    } finally {
      release();
      this.inside = false;
    }
  }

  /**
   * Waits until the CPUs are quiet. If an earlier wait failed and the CPUs are still busy, it does not wait again.
   * @param {number} again number of repeats so far
   * @param {number} took duration of the part, ms
   */
  mayRepeat(again, took) {
    const left = SPARE_MS + this.counted - this.spent - took;
    if (this.stays || again >= this.most || left <= 0) return false;
    const from = now();
    const quiet = awaitQuiet(this.placement, left, () => this.machine.look());
    this.spent += now() - from;
    this.stays = !quiet;
    return quiet;
  }
}
