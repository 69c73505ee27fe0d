/**
 * A load that takes turns with the load of another run while both systems are up: BATON is set in such a run. A comparison runs a pair so,
 * because both sides then set up and clean up at the same time.
 */
import { begin, end, taken } from 'k6/x/windtunnel/turns';

/** Whether this load takes turns. */
export const takesTurns = taken;

/** Runs are comparable if the other system was up in both or in neither. @type {Record<string, boolean>} */
export const turnParameter = taken ? { both_up: true } : {};

/** In setup(): waits for the turn of this load. */
export function awaitTurn() {
  if (taken) begin();
}

/** In teardown(), after the measuring window: waits until the other load has ended, too. */
export function endTurn() {
  if (taken) end();
}
