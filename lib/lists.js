/** Variables that are lists. */

/**
 * Its items, each once.
 * @param {string} name
 * @param {string} fallback
 * @param {(item: string) => boolean} fits
 * @param {string} wanted what is said where one does not fit
 */
export function envList(name, fallback, fits, wanted) {
  const items = (__ENV[name] || fallback).split(',');
  const odd = items.find((item) => !fits(item));
  if (odd !== undefined || new Set(items).size !== items.length)
    throw `${name}=${items.join(',')}: ${wanted}, each once`;
  return items;
}

/**
 * Whole numbers from 1 on.
 * @param {string} name
 * @param {string} fallback
 * @param {number} most
 * @param {{ different: boolean }} [how] different: none may be there twice
 */
export function envCounts(name, fallback, most, { different } = { different: false }) {
  const counts = (__ENV[name] || fallback).split(',').map(Number);
  const odd = counts.some((count) => !Number.isInteger(count) || count < 1 || count > most);
  if (odd || (different && new Set(counts).size !== counts.length))
    throw `${name}=${__ENV[name]}: ${different ? 'different ' : ''}whole numbers from 1 to ${most} are wanted`;
  return counts;
}
