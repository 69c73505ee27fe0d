/** All runs, with a link to each. */
import { VERDICTS } from '../../parts/colours.js';
import { points, rows } from '../../parts/influx.js';
import { linkTo } from '../../parts/links.js';
import { table } from '../../parts/panels.js';
import { calculated, joinedBy, renamed } from '../../parts/transformations.js';

const MOST = 100;
/** Margin before the start of a run: the first points carry the time at which their second begins. */
const MARGIN_MS = 2000;

/** @returns {import('../board.js').Row} */
export const runRow = () => ({ id: 150, title: 'Runs', panels: [runs()] });

/** @param {string} refId @param {string} columns @param {string} kind */
const events = (refId, columns, kind) =>
  rows(
    refId,
    points({
      select: columns,
      from: ['events'],
      where: [`"kind" = '${kind}'`],
      order: `ORDER BY time DESC LIMIT ${MOST}`,
    }),
  );

const runs = () =>
  table({
    id: 151,
    title: 'Runs',
    description: `The newest ${MOST} runs. A click on a run offers to show it at its time, or to watch one that has not ended; the other way is to choose it above, and the time by hand. A run without a verdict is running, or was killed.`,
    empty: 'no run is in this database',
    transformations: [
      renamed({ Time: 'began' }, 'begin'),
      renamed({ Time: 'ended' }, 'end'),
      joinedBy('testid'),
      calculated('from', 'began', '-', MARGIN_MS),
    ],
    columns: [
      {
        name: 'testid',
        title: 'run',
        width: 260,
        links: [
          linkTo(
            'Show this run',
            'overview',
            'var-testid=${__data.fields.testid}&from=${__data.fields.from.numeric}&to=${__data.fields.ended.numeric}',
          ),
          linkTo(
            'Watch it: it has not ended',
            'overview',
            'var-testid=${__data.fields.testid}&from=${__data.fields.from.numeric}&to=now',
          ),
          linkTo(
            'Make it the baseline',
            'overview',
            '${testid:queryparam}&var-baseline=${__data.fields.testid}&${__url_time_range}',
          ),
        ],
      },
      { name: 'verdict', width: 130, colours: VERDICTS },
      { name: 'profile', width: 110 },
      { name: 'began', width: 190 },
      { name: 'ended', width: 190 },
      { name: 'text' },
      { name: 'from', hidden: true },
    ],
  })
    .targets([
      events('begin', '"testid", "profile", "text"', 'run_start'),
      events('end', '"testid", "verdict"', 'run_end'),
    ])
    .sortBy([{ build: () => ({ displayName: 'began', desc: true }) }]);
