/**
 * Holds the records of a part of a run back until it is known whether the part counts. A failure that a busy machine cannot
 * cause is evidence against the system, so its part always counts.
 */

/** @type {(() => void)[] | null} null: records are not held back */
let held = null;

/** Starts to hold records back. */
export function hold() {
  held = [];
}

/** Makes the held records, and makes later ones at once. */
export function release() {
  const records = held ?? [];
  held = null;
  for (const make of records) make();
}

/** Discards the held records. */
export function drop() {
  held = null;
}

export const isHeld = () => held !== null;

/** Makes a record now, or after release(). @param {() => void} make */
export function record(make) {
  if (held) held.push(make);
  else make();
}
