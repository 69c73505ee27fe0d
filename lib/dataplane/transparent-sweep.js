/** A sweep of a transparent proxy. Each run has its control beside it, in the same new networks. */
import { partName } from './scenario.js';
import { SweepRounds } from './sweep-rounds.js';
import { startFarEnds, viasOf } from './transparent.js';

/** The control of all values: the same load, routed past the proxy. */
const ROUTED = 'sweep_direct';

export class TransparentSweep extends SweepRounds {
  /**
   * A row for each value, and one row for their common control.
   * @param {import('./scenario.js').PlaneOperation} row
   * @param {import('./scenario.js').PlaneOperation} control
   */
  operationsBeside(row, control) {
    return { ...this.operations({ ...row, control: ROUTED }), [ROUTED]: control };
  }

  /**
   * One run of a value and one run of its control, in alternating order.
   * @param {import('./environment.js').TransparentEnvironment} environment
   * @param {import('./scenario.js').Plane<{ found?: import('./fresh.js').Found }>} plane
   * @param {number} index of the run
   * @param {Record<string, unknown>} spec of the probe
   */
  round(environment, plane, index, spec) {
    const { found, runId, window } = plane.data;
    if (!found) return;
    const turn = this.turn(index, runId);
    // The run's window belongs to another instance: here it only watches other programs' CPU use.
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
