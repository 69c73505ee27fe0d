/** The points of the curves of goodput over a link: its loss, or its round trip, is varied, and nothing else. */

/**
 * @typedef {'loss' | 'rtt'} Axis
 * @typedef {{ axis: Axis, value: number }} Point of loss a share, of rtt ms
 */

/**
 * LOSSES and RTTS as points.
 * @param {string[]} losses per cent, such as 0.5 or 0.5%
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

/** As an item of a link. @param {Point} point */
export const itemOf = ({ axis, value }) =>
  axis === 'loss' ? `loss:${Number((value * 100).toPrecision(6))}%` : `rtt:${value}ms`;
