/** Messages on their way from publishers to subscribers. */
import { RUN, SYSTEM, aSecond } from '../../parts/influx.js';
import { graph } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

/** Only some scenarios have subscribers: the chosen ones do not matter here. */
const DELIVERIES = [RUN, SYSTEM, '"operation" =~ /^(deliver|last)$/'];

/** @returns {import('../board.js').Row} */
export const deliveryRow = () => ({
  id: 700,
  title: 'Deliveries',
  collapsed: true,
  panels: [rate(), duration(), carried()],
});

const rate = () =>
  graph({
    id: 701,
    title: 'Deliveries',
    description:
      'Messages that arrived at subscribers a second, in delivery and broadcast, whichever scenario is chosen. Last: messages that the last subscriber has.',
    unit: units.messages,
    w: 8,
    shows: {
      select: aSecond('count'),
      from: ['operation_ms'],
      where: DELIVERIES,
      by: ['scenario', 'operation'],
      alias: '$tag_scenario, $tag_operation',
    },
  });

const duration = () =>
  graph({
    id: 702,
    title: 'From publisher to subscriber',
    description:
      'From sending the message to its arrival at a subscriber; last: at the last of them. P50 and P95 of each second.',
    unit: units.ms,
    w: 8,
    calcs: ['mean', 'max'],
    log: true,
    shows: {
      select: 'mean("p50") AS "P50", max("p95") AS "P95"',
      from: ['operation_ms'],
      where: DELIVERIES,
      by: ['scenario', 'operation'],
      alias: '$col $tag_scenario, $tag_operation',
    },
  });

const carried = () =>
  graph({
    id: 703,
    title: 'Answered requests and messages in them',
    description:
      'A second, of the chosen scenarios. A batch carries many messages; where each request is one message, only the answers are counted.',
    unit: units.amount,
    w: 8,
    shows: {
      select: aSecond('count'),
      from: ['operation_ms', 'operation_items'],
      alias: '$m',
    },
  })
    .overrideByName('operation_ms', [{ id: 'displayName', value: 'answers' }])
    .overrideByName('operation_items', [{ id: 'displayName', value: 'messages' }]);
