/**
 * What a part of a run records, held back until it is known whether the part counts. A failure that a busy machine cannot cause
 * is evidence of the system, and its part counts.
 */

/** @type {(() => void)[] | null} null where nothing is held */
let held = null;

/** From now on records wait. */
export function hold() {
  held = [];
}

/** Makes those that wait, and from now on each at once. */
export function release() {
  const records = held ?? [];
  held = null;
  for (const make of records) make();
}

/** Forgets those that wait. */
export function drop() {
  held = null;
}

export const isHeld = () => held !== null;

/** Makes a record: now, or once it is known that it counts. @param {() => void} make */
export function record(make) {
  if (held) held.push(make);
  else make();
}
