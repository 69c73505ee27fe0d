/** Verdicts of comparisons: their runs have no row in the table of runs. */
import { VERDICTS } from '../../parts/colours.js';

import { table } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

const MOST = 100;

/** @returns {import('../board.js').Row} */
export const comparisonRow = () => ({
  id: 160,
  title: 'Comparisons: is B worse than A?',
  collapsed: true,
  panels: [comparisons()],
});

const comparisons = () =>
  table({
    id: 161,
    title: 'Judgements',
    description: `The newest ${MOST} comparisons that were streamed, each with its verdict. The file compare.md has every metric.`,
    empty: 'no comparison has been streamed yet',
    columns: [
      { name: 'Time', title: 'made', width: 190 },
      { name: 'system', width: 100 },
      { name: 'scenario', width: 150 },
      { name: 'profile', width: 100 },
      { name: 'verdict', width: 130, colours: VERDICTS },
      { name: 'pairs', fitted: true, unit: units.count },
      { name: 'a', title: 'A', width: 150, long: true },
      { name: 'b', title: 'B', width: 150, long: true },
      { name: 'headline', width: 300, long: true },
      { name: 'reasons', long: true },
    ],
    shows: {
      from: ['comparisons'],
      where: [`"system" != ''`],
      order: `ORDER BY time DESC LIMIT ${MOST}`,
    },
  });
