/** Changes of a link during a transfer: the new settings, and the expected effect. */

/**
 * @typedef {import('../link.js').About['settings']} Settings of both directions
 *
 * @typedef {object} Change
 * @property {string} name
 * @property {string} title
 * @property {string} mark label in a chart
 * @property {number} lasts s; 0: the change stays
 * @property {number} rate of the line afterwards, as a multiple of the rate before
 * @property {(settings: Settings) => string | null} items in the format of LINK; null if the change does not apply to the link
 * @property {string} [back] items that end the change
 */

/** @type {Change[]} */
export const CHANGES = [
  {
    name: 'outage',
    title: 'An outage of 2 s',
    mark: 'dead',
    lasts: 2,
    rate: 1,
    items: () => 'dead:yes',
    back: 'dead:no',
  },
  {
    name: 'half',
    title: 'A rate that halves',
    mark: 'half the rate',
    lasts: 0,
    rate: 0.5,
    items: ({ up, down }) =>
      up.rate_bit_s && down.rate_bit_s
        ? `up.rate:${Math.round(up.rate_bit_s / 2000)}kbit,down.rate:${Math.round(down.rate_bit_s / 2000)}kbit`
        : null,
  },
  {
    name: 'double',
    title: 'A round trip that doubles',
    mark: 'twice the RTT',
    lasts: 0,
    rate: 1,
    items: ({ up, down }) =>
      up.delay_ns + down.delay_ns > 0
        ? `up.delay:${(2 * up.delay_ns) / 1e6}ms,down.delay:${(2 * down.delay_ns) / 1e6}ms`
        : null,
  },
];

/**
 * A change in the format of the link's timetable.
 * @param {Change} change
 * @param {Settings} settings
 * @param {number} at s after the link's start
 * @returns {string | null} null if the change does not apply to the link
 */
export function timetableOf({ items, back, lasts }, settings, at) {
  const text = items(settings);
  if (text === null) return null;
  const from = text.split(',').map((item) => `@${at}s/${item}`);
  return [...from, ...(back ? [`@${at + lasts}s/${back}`] : [])].join(',');
}

/**
 * When a change began and ended, as reported by the link.
 * @param {Change} change
 * @param {import('./over-time.js').OverTime} link
 * @param {number} fromUnixUs
 * @returns {{ at: number, until: number } | null} s after fromUnixUs; null if the change did not happen
 */
export function madeAt({ back }, link, fromUnixUs) {
  const shift = (link.began_unix_us - fromUnixUs) / 1e6;
  const times = link.changes.map(({ at_s: at }) => at + shift);
  if (times.length === 0 || (back && times.length < 2)) return null;
  return { at: times[0], until: back ? times[times.length - 1] : times[0] };
}
