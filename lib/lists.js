/** Lists in parts. */

/** Parts of a list, in order. @template T @param {T[]} all @param {number} most items of a part @returns {T[][]} */
export const chunked = (all, most) =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, index) =>
    all.slice(index * most, (index + 1) * most),
  );
