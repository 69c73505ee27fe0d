/** The histories that `k6 x trend --stream` wrote: figures of kept runs over months, and their changes. */
import { changes } from './annotations.js';
import { boardOf } from './board.js';
import { allRow, changeRow, scenarioRow } from './rows/trend.js';
import { ofTrend } from '../parts/variables.js';

export const trend = () =>
  boardOf({
    name: 'trend',
    title: 'Trend',
    description: 'The figures of runs over time on one class of machine, and where they changed for good.',
    variables: ofTrend(),
    marks: changes(),
    from: 'now-90d',
    refresh: '5m',
    rows: [allRow(), changeRow(), scenarioRow()],
  });
