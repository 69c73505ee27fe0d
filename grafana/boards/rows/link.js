/** The link between the ends of a pair: traffic carried, queue, and losses. */
import { CHOSEN_SCENARIOS, aSecond, overTime, series } from '../../parts/influx.js';
import { graph } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

const NO_LINK = 'A scenario without LINK has none.';
/** One series per direction. */
const BY = ['direction'];
/** Names of losses. @type {Record<string, string>} */
const LOSSES = { queue_dropped: 'queue full', lost: 'lost as asked', dead: 'link dead' };

/** @returns {import('../board.js').Row} */
export const linkRow = () => ({
  id: 1000,
  title: 'Link',
  collapsed: true,
  panels: [rate(), queue(), drops()],
});

/** @param {string} select @param {string} [alias] */
const ofLinks = (select, alias = '$tag_direction') => ({
  select,
  from: ['link'],
  where: CHOSEN_SCENARIOS,
  by: BY,
  alias,
});

const rate = () =>
  graph({
    id: 1001,
    title: 'Rate',
    description: `IP packets that arrived at the other end, headers included: up is from the client to the server. All links that there were at once together; the dashed line is the rate of one, where it has any. ${NO_LINK}`,
    unit: units.mbit,
    w: 8,
    shows: ofLinks('sum("delivered_bytes") * 8 / 1000 / $__interval_ms'),
  })
    .withTarget(series('asked', overTime(ofLinks('max("rate_bit_s") / 1000000')), 'asked, $tag_direction'))
    .overrideByRegexp('/^asked, /', [
      { id: 'custom.lineStyle', value: { fill: 'dash', dash: [10, 10] } },
      { id: 'custom.fillOpacity', value: 0 },
    ]);

const queue = () =>
  graph({
    id: 1002,
    title: 'Queue',
    description: `The most that waited for the line in each second, of several links the most in any. ${NO_LINK}`,
    unit: units.bytes,
    w: 8,
    shows: ofLinks('max("queued_bytes")'),
  });

const drops = () =>
  graph({
    id: 1003,
    title: 'Lost packets',
    description: `Packets a second that the full queue did not take, that were lost as LINK asks, and that came while the link was dead. ${NO_LINK}`,
    unit: units.amount,
    w: 8,
    shows: ofLinks(
      Object.entries(LOSSES)
        .map(([field, name]) => `${aSecond(field)} AS "${name}"`)
        .join(', '),
      '$col, $tag_direction',
    ),
  });
