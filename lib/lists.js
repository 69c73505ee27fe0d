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
