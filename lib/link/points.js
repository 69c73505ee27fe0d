/** The points of throughput curves over a link. Only its loss or its round trip varies. */

/**
 * @typedef {'loss' | 'rtt'} Axis
 * @typedef {{ axis: Axis, value: number }} Point loss as a share (0 to 1), rtt in ms
 */

/**
 * LOSSES and RTTS as points.
 * @param {string[]} losses percent, such as 0.5 or 0.5%
 * @param {string[]} rtts ms
 * @returns {Point[]}
 */
export function pointsOf(losses, rtts) {
  const loss = losses.map((text) => ({
    axis: /** @type {const} */ ('loss'),
    value: numberOf('LOSSES', text.replace(/ *%$/, ''), 0, 99) / 100,
  }));
  const rtt = rtts.map((text) => ({
    axis: /** @type {const} */ ('rtt'),
    value: numberOf('RTTS', text.replace(/ *ms$/, ''), 0.1, 10_000),
  }));
  for (const [name, points] of Object.entries({ LOSSES: loss, RTTS: rtt }))
    if (new Set(points.map(({ value }) => value)).size < points.length)
      throw `${name}: a value is there twice: leave one out`;
  return [...loss, ...rtt];
}

/** @param {string} variable @param {string} text @param {number} least @param {number} most */
function numberOf(variable, text, least, most) {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  throw `${variable}=${text}: give numbers from ${least} to ${most}, with commas between them`;
}

/** A point as an item of LINK. @param {Point} point */
export const itemOf = ({ axis, value }) =>
  axis === 'loss' ? `loss:${Number((value * 100).toPrecision(6))}%` : `rtt:${value}ms`;
