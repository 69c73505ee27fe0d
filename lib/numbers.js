/**
 * Numbers for people, as the report's tables write them (k6/internal/format): no more digits than mean
 * something, thousands separated by commas. tests/fixtures/numbers.json holds both to the same.
 */

/** @param {string} number decimal */
export function thousands(number) {
  const [whole, ...fraction] = number.split('.');
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

/** How many decimals a number below a bound has; none above the last. */
const MS = [
  [0.9995, 3],
  [9.995, 2],
  [99.95, 1],
];
const RATE = [
  [9.995, 2],
  [999.95, 1],
];

/** @param {number} value @param {number[][]} steps */
const fixed = (value, steps) =>
  thousands(value.toFixed(steps.find(([below]) => Math.abs(value) < below)?.[1] ?? 0));

/** Milliseconds. @param {number} value */
export const ms = (value) => fixed(value, MS);

/** Something a second. @param {number} value */
export const rate = (value) => (value === 0 ? '0' : fixed(value, RATE));

/** @param {number} value */
export const count = (value) => thousands(String(value));

/** A share, 0 to 1, as a percentage; never 0% or 100% of what is neither. @param {number} value */
export function share(value) {
  if (value > 0 && value < 0.0001) return '<0.01%';
  if (value < 1 && value > 0.9999) return '99.99%';
  return `${Math.round(value * 1e4) / 100}%`;
}

/** @param {string} text of one of the functions above */
const read = (text) => Number(text.endsWith('%') ? `${text.slice(0, -1)}e-2` : text.replace(/,/g, ''));

/**
 * A number as one of the functions above writes it, with as many more digits as it takes to see on which side of a
 * bound it lies.
 * @param {(value: number) => string} write
 * @param {number} value
 * @param {number} bound
 */
export function beside(write, value, bound) {
  const side = Math.sign(value - bound);
  let text = write(value);
  const [scale, sign] = text.endsWith('%') ? [100, '%'] : [1, ''];
  const decimals = text.split('.')[1]?.replace('%', '').length ?? 0;
  for (let digits = decimals + 1; digits <= 18; digits += 1) {
    if (Math.sign(read(text) - bound) === side) return text;
    text = thousands((value * scale).toFixed(digits)) + sign;
  }
  return text;
}
