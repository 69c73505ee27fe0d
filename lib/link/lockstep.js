/**
 * Measures several ways in step, each over its own link: the next probes of all ways run at the same time. A measurement is a
 * generator. It yields the probes to run at once, and receives their results.
 */
import { chunked } from '../lists.js';
import { measureAll } from '../meter.js';
import { currentProfile } from '../profiles.js';

/**
 * @typedef {import('./way.js').Spec} Spec
 * @typedef {import('../meter.js').Ended} Ended
 */
/**
 * @template T
 * @typedef {Generator<Spec[], T, Ended[]>} Steps
 */

/** Maximum number of probes that the sidecar runs at once (sidecar/src/probe/registry.rs). */
const PROBES_MOST = 12;

/**
 * Runs all generators in step until the last one ends. If one throws, the others are closed.
 * @template T
 * @param {Steps<T>[]} all
 * @returns {Steps<T[]>}
 */
export function* together(all) {
  /** @type {T[]} */
  const results = [];
  try {
    let going = all.map((steps, place) => ({ steps, place, next: steps.next() }));
    for (;;) {
      for (const { next, place } of going) if (next.done) results[place] = next.value;
      going = going.filter(({ next }) => !next.done);
      if (going.length === 0) return results;
      const wanted = going.map(({ next }) => /** @type {Spec[]} */ (next.value));
      const ended = yield wanted.flat();
      for (const [index, one] of going.entries())
        one.next = one.steps.next(ended.splice(0, wanted[index].length));
    }
  } finally {
    for (const steps of all) steps.return(/** @type {any} */ (undefined));
  }
}

/** @template T @param {Steps<T>} steps @param {(specs: Spec[]) => Ended[]} [measure] @returns {T} */
export function run(steps, measure = measureAll) {
  try {
    let next = steps.next();
    while (!next.done) next = steps.next(next.value.length > 0 ? measure(next.value) : []);
    return next.value;
  } finally {
    steps.return(/** @type {any} */ (undefined));
  }
}

/** Whether ways are measured in step. A smoke run only checks that everything works; other profiles measure one way at a time. */
export const inStep = () => currentProfile() === 'smoke';

/** Number of rounds for these steps. In step, one round has all. @param {number} steps */
export const roundsFor = (steps) => (inStep() ? 1 : steps);

/**
 * Runs a step of measurements, one after the other; in step all steps, together up to what the machine carries.
 * @param {(() => Steps<unknown>)[][]} steps
 * @param {number} place of the step
 * @param {{ carried: number, probes: number }} most `carried`: ways that may be full at once; `probes` per way at once
 */
export function runStep(steps, place, { carried, probes }) {
  const all = inStep() ? steps.flat() : steps[place];
  const many = inStep() ? Math.max(1, Math.min(carried, Math.floor(PROBES_MOST / probes))) : 1;
  for (const some of chunked(all, many)) run(together(some.map((begin) => begin())));
}
