/** A sweep of a transparent proxy: each run of a value, and its control beside it, in networks of their own. */
import { partName } from './scenario.js';
import { SweepRounds } from './sweep-rounds.js';
import { startFarEnds, viasOf } from './transparent.js';

/** The control of all values: the same, routed past the proxy. */
const ROUTED = 'sweep_direct';

export class TransparentSweep extends SweepRounds {
  /**
   * A row for each value, and one for the control of all.
   * @param {import('./scenario.js').PlaneOperation} row
   * @param {import('./scenario.js').PlaneOperation} control
   */
  operationsBeside(row, control) {
    return { ...this.operations({ ...row, control: ROUTED }), [ROUTED]: control };
  }

  /**
   * One run of a value and one of its control, which of them first in turn.
   * @param {import('./environment.js').TransparentEnvironment} environment
   * @param {import('./scenario.js').Plane<{ found?: import('./fresh.js').Found }>} plane
   * @param {number} index of the run
   * @param {Record<string, unknown>} spec of the probe
   */
  round(environment, plane, index, spec) {
    const { found, runId, window } = plane.data;
    if (!found) return;
    const turn = this.turn(index, runId);
    // The run's window is of another instance: it only sees who uses the CPUs.
    const watched = { watched_by: window };
    const through = (/** @type {import('./fresh.js').Started} */ { id }) => {
      const { proxied, direct } = viasOf(startFarEnds(environment, id), id, null);
      const control = () => plane.probe([ROUTED], { ...direct, ...watched }, spec);
      if (index % 2 === 1) control();
      const measured = plane.probe([turn.operation], { ...proxied, ...watched }, spec);
      if (index % 2 === 0) control();
      return measured;
    };
    plane.part(partName(turn.operation, index), () => this.run(turn, found, through));
  }
}
