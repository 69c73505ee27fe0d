/** Measures turns of a row, and repeats them if other programs disturbed them. */
import { release } from 'k6/x/windtunnel/record';

/**
 * Removes the notes of a discarded turn. A turn in which a side failed is not discarded, unless a busy machine may be the
 * cause.
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {string} name of the turn in the report
 * @param {import('./result.js').Notes[]} notes of the measured sides
 * @param {() => void} measure
 */
export function undisturbed(plane, name, notes, measure) {
  const before = notes.map(({ turns, outcomes }) => ({ turns: turns.length, outcomes: outcomes.length }));
  plane.part(name, () => {
    for (const [index, { turns, outcomes }] of notes.entries()) {
      turns.length = before[index].turns;
      outcomes.length = before[index].outcomes;
    }
    measure();
    const ended = notes.flatMap(({ outcomes }, index) => outcomes.slice(before[index].outcomes));
    if (ended.some(({ outcome, busy }) => outcome !== 'measured' && !busy)) release();
  });
}
