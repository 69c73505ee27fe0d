/**
 * Makes a value, or takes another one if making it throws.
 * @template T, U
 * @param {() => T} make
 * @param {U} otherwise
 */
export function attempt(make, otherwise) {
  try {
    return make();
  } catch {
    return otherwise;
  }
}
