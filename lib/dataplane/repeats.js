/**
 * A part of a run that others disturbed is measured again, once they are gone: at most twice, and in no more than the
 * time that was measured and some seconds. Whether it was disturbed is what the sidecar saw of others on the CPUs of the
 * placement and nothing else: how fast or slow it was is not looked at. What is thrown away is told (`repeated` of the
 * result) and goes into no figure. A part with a failure that a busy machine cannot cause is never thrown away.
 */
import { now } from '../clock.js';
import { disturbances } from 'k6/x/windtunnel/judge';
import { envCount } from '../variables.js';
import { awaitQuiet } from '../quiet.js';
import { drop, hold, isHeld, release } from './held.js';

/** For waits and repeats, beside as much time as was measured. */
const SPARE_MS = 20_000;

export class Repeats {
  /**
   * @param {import('./parts.js').Machine} machine
   * @param {import('k6/x/windtunnel/judge').Placement} placement
   * @param {boolean} [stays] whether somebody else was waited for in vain
   */
  constructor(machine, placement, stays = false) {
    this.machine = machine;
    this.placement = placement;
    this.stays = stays;
    this.most = envCount('AGAIN');
    this.inside = false;
    /** Milliseconds: of the parts that count, and of waits and what was thrown away. */
    this.counted = 0;
    this.spent = 0;
  }

  /**
   * Measures a part; one inside of another belongs to it.
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
   * Waits until the CPUs are the run's own; not for somebody who was waited for in vain, and is there still.
   * @param {number} again times that the part was measured again already
   * @param {number} took ms that it lasts
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
