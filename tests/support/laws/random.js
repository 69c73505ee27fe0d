/** Random numbers from a seed, and the trial of laws with them. */

/** A linear congruential generator of numbers between 0 and 1. @param {number} seed */
export function random(seed) {
  let state = seed;
  const uniform = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return (state + 1) / 2147483649;
  };
  const below = (/** @type {number} */ count) => Math.floor(uniform() * count);
  return {
    uniform,
    below,
    /** @template T @param {readonly T[]} all @returns {T} */
    one: (all) => all[below(all.length)],
    /** A number about 1. @param {number} noise */
    about: (noise) =>
      Math.exp(noise * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())),
    /** @template T @param {readonly T[]} all @returns {T[]} in another order */
    shuffled: (all) =>
      all
        .map((one) => ({ one, at: uniform() }))
        .sort((a, b) => a.at - b.at)
        .map(({ one }) => one),
  };
}

/** @typedef {ReturnType<typeof random>} Lot */

/** A copy that shares nothing. @template T @param {T} made @returns {T} */
export const copyOf = (made) => JSON.parse(JSON.stringify(made));

/**
 * Tries each law with a new seed for each case. A law returns a text if the case breaks it, or null.
 * @param {Record<string, (lot: Lot) => string | null>} laws
 * @param {number} cases of each
 * @param {number} [from] which case is the first
 */
export function tried(laws, cases, from = 1) {
  /** @type {string[]} */
  const broken = [];
  for (const [name, law] of Object.entries(laws))
    for (let number = from; number < from + cases; number += 1) {
      const wrong = wrongOf(law, random(number * 7919));
      if (wrong !== null) broken.push(`${name}, case ${number}: ${wrong}`);
    }
  return { cases: cases * Object.keys(laws).length, broken: broken.length, first: broken.slice(0, 5) };
}

/** An exception is no answer. @template L @param {(lot: L) => string | null} law @param {L} lot */
function wrongOf(law, lot) {
  try {
    return law(lot);
  } catch (error) {
    return String(error);
  }
}
