/** The run at present: rate, latency and errors in large graphs, and the time of each scenario. */
import { CHOSEN_SCENARIOS, aSecond } from '../../parts/influx.js';
import { graph } from '../../parts/panels.js';
import { units } from '../../parts/units.js';
import { bounds, dashingBounds } from './bounds.js';
import { kinds, requests } from './errors.js';
import { SPAN_MS } from './requests.js';

/** Only this panel has the marks: marks on every graph would hide lines. */
export const MARKS = 123;

/**
 * @param {{ whole?: boolean }} [of] whole: of all systems, whose operations may have the same names
 * @returns {import('../board.js').Row}
 */
export const liveRow = ({ whole = false } = {}) => {
  const by = whole ? ['scenario', 'operation'] : ['operation'];
  return {
    id: 120,
    title: 'Rate, latency and errors',
    panels: [rate(by), latency(by), kinds(), requests(), marks()],
  };
};

/** @param {string[]} by tags */
const named = (by) => by.map((tag) => `$tag_${tag}`).join(' ');

/** @param {string[]} by */
const rate = (by) =>
  graph({
    id: 121,
    title: 'Rate',
    description: 'Requests a second of each operation, failed ones too.',
    unit: units.requests,
    w: 12,
    h: 10,
    shows: { select: aSecond('count'), from: ['operation_failed'], by, alias: named(by) },
  });

/** @param {string[]} by */
const latency = (by) =>
  dashingBounds(
    graph({
      id: 122,
      title: 'P95 latency',
      description:
        'P95 of the successes of each second, of each operation; where a point is wider than a second, the highest. The dashed line is the bound on P95, where there is one.',
      unit: units.ms,
      w: 12,
      h: 10,
      log: true,
      shows: { select: 'max("p95")', from: ['operation_ms'], by, alias: named(by) },
    })
      .spanNulls(SPAN_MS)
      .withTarget(bounds('operation_ms p\\(95\\)', 'operation')),
  );

const marks = () =>
  graph({
    id: MARKS,
    title: 'Scenarios',
    description:
      'When each scenario ran, in the colour of its verdict once it has ended, over the virtual users. Purple: InfluxDB was away.',
    unit: units.count,
    w: 24,
    h: 3,
    shows: { select: 'max("value")', from: ['vus'], where: CHOSEN_SCENARIOS, alias: 'virtual users' },
  });
