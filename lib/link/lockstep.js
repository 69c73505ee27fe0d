/**
 * Ways over links of their own that are measured in step: what each measures next runs at once. What measures a way is a generator:
 * it yields the probes that it wants at once, and is given what they came to.
 */
import { measureAll } from '../dataplane/meter.js';
import { currentProfile } from '../profiles.js';

/**
 * @typedef {import('./way.js').Spec} Spec
 * @typedef {import('../dataplane/meter.js').Ended} Ended
 */
/**
 * @template T
 * @typedef {Generator<Spec[], T, Ended[]>} Steps
 */

/** So many probes the sidecar runs at once (sidecar/src/probe/registry.rs). */
const PROBES_MOST = 12;

/**
 * All in step, until the last one has ended. Where one fails, the others are let go.
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

/** Whether ways are measured in step: a smoke looks whether all works, and other profiles have the machine for one way. */
export const inStep = () => currentProfile() === 'smoke';

/**
 * Runs what measures ways: in step where the profile does so, as many at once as the machine carries, else one after the other.
 * @param {(() => Steps<unknown>)[]} all
 * @param {{ carried: number, probes: number }} most carried: ways that may be full at once; probes: of each way at once
 */
export function runAll(all, { carried, probes }) {
  const many = inStep() ? Math.max(1, Math.min(carried, Math.floor(PROBES_MOST / probes))) : 1;
  for (let first = 0; first < all.length; first += many)
    run(together(all.slice(first, first + many).map((begin) => begin())));
}
