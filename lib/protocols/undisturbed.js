/** Turns of a row, measured again where others disturbed them. */
import { release } from '../dataplane/held.js';

/**
 * What a turn that is thrown away has left in the notes goes with it. One of which a side did not end as it should is
 * not thrown away, unless a busy machine can have caused that.
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {string} name that the report gives them
 * @param {import('./result.js').Notes[]} notes of the sides that are measured
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
