/** A summary: whether the system meets its bounds, and whether the figures are valid. */
import { ReduceDataOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { units } from '../../parts/units.js';
import { HOLDS, VERDICTS, VERDICT_CODES, mapped } from '../../parts/colours.js';
import { CHOSEN, CHOSEN_SCENARIOS, FAILED_SHARE, RUN, overall, points, series } from '../../parts/influx.js';
import { BOARD_OF_SYSTEM, linkTo } from '../../parts/links.js';
import { stat, table } from '../../parts/panels.js';
import { countedByValue, highestSeries, redFrom } from '../../parts/transformations.js';

/** Margin around a scenario, so that its marks are not on the graphs' edges. */
const MARGIN_MS = 2000;

/** The time range from the columns `from` and `to`. */
const AT_ITS_TIME = 'from=${__data.fields.from.numeric}&to=${__data.fields.to.numeric}';
const BOARDS = mapped(
  Object.fromEntries(
    Object.entries(BOARD_OF_SYSTEM).map(([system, board]) => [system, /** @type {[string]} */ ([board])]),
  ),
);

/** Texts for the number of doubtful scenarios. */
const DOUBTFUL = mapped({ 0: ['trusted', 'green'] });
const TRUST = mapped({ 1: ['trusted', 'green'], 0: ['doubtful', 'orange'] });

/** Added to a bound in a query, so that only values above the bound break it. */
const LEAST_OVER = '0.000000001';
const SLOWEST_SHOWN = 2;
/** Widths of the tiles, which fill one line of 24. */
const [VERDICT, FIGURE, SLOWEST] = [5, 4, 7];

/**
 * @param {{ whole?: boolean }} [of] whole: one verdict on the whole run, in place of the count of each verdict
 * @returns {import('../board.js').Row}
 */
export const statusRow = ({ whole = false } = {}) => ({
  id: 100,
  title: 'Status',
  panels: [whole ? verdict() : verdicts(), trust(), requests(), failed(), slowest()],
});

/** @param {string} board its name @returns {import('../board.js').Row} */
export const resultRow = (board) => ({
  id: 130,
  title: 'Verdicts and thresholds of the scenarios that have ended',
  collapsed: true,
  panels: [scenarios(board), thresholdTable()],
});

const verdicts = () =>
  stat({
    id: 101,
    title: 'Verdicts',
    description:
      'How many of the scenarios that have ended have which verdict. Inconclusive: the generator was the bottleneck, or too few samples.',
    unit: units.count,
    colour: 'gray',
    w: VERDICT,
    noValue: 'running',
    names: true,
    shows: {
      ask: points,
      select: 'last("code")',
      from: ['verdicts'],
      where: CHOSEN_SCENARIOS,
      by: ['system', 'scenario'],
      alias: '$tag_system $tag_scenario',
    },
  })
    .transformations(countedByValue())
    .overrides(
      Object.entries(VERDICT_CODES).map(([code, [text, colour]]) => ({
        matcher: { id: 'byRegexp', options: `/^${code}$/` },
        properties: [
          { id: 'displayName', value: text },
          { id: 'color', value: { mode: 'fixed', fixedColor: colour } },
        ],
      })),
    );

/** Grafana shows a text field only if the panel names it. */
const verdict = () =>
  stat({
    id: 101,
    title: 'Verdict',
    description:
      'The verdict on the whole run, once it has ended. Those on its scenarios are in the table below.',
    unit: units.none,
    colour: 'gray',
    w: VERDICT,
    noValue: 'running',
    shows: {
      ask: points,
      select: 'last("verdict")',
      from: ['events'],
      where: [RUN, `"kind" =~ /^(run|turn)_end$/`],
      alias: 'verdict',
    },
  })
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('/^verdict$/').values(false))
    .mappings(VERDICTS);

const trust = () =>
  stat({
    id: 102,
    title: 'Trust',
    description:
      'How many of the scenarios that have ended are doubtful: a check of validity failed. The table of scenarios says which, the table of checks says why.',
    unit: 'suffix: doubtful',
    colour: 'orange',
    w: FIGURE,
    noValue: 'running',
  })
    .mappings(DOUBTFUL)
    .withTarget(
      // A check without a result is -1. The square is 1, because this is no failure either.
      series(
        'A',
        'SELECT sum("doubtful") FROM (SELECT 1 - min("held") AS "doubtful" FROM (SELECT "ok" * "ok" AS "held" FROM "validity" ' +
          `WHERE ${CHOSEN_SCENARIOS.join(' AND ')}) GROUP BY "system", "scenario")`,
        'doubtful',
      ),
    );

const requests = () =>
  stat({
    id: 103,
    title: 'Requests',
    description: "Requests so far, within the board's time.",
    unit: units.count,
    colour: 'blue',
    w: FIGURE,
    shows: {
      ask: overall,
      select: 'sum("count")',
      from: ['operation_failed'],
      alias: 'requests',
    },
  });

const failed = () =>
  stat({
    id: 104,
    title: 'Failed',
    description:
      "Share of the requests that failed so far, within the board's time. Red from the strictest bound on failures that a threshold sets; blue without such a threshold.",
    unit: units.share,
    colour: 'blue',
    w: FIGURE,
    shows: { ask: overall, select: FAILED_SHARE, from: ['operation_failed'], alias: 'failed' },
  })
    .transformations([redFrom('bound', 'bound')])
    .withTarget(
      series(
        'bound',
        points({
          // A bound of 0 holds at 0.
          select: `min("bound") + ${LEAST_OVER}`,
          from: ['bounds'],
          where: [...CHOSEN, '"threshold" =~ /^operation_failed /'],
        }),
        'bound',
      ),
    );

const slowest = () =>
  stat({
    id: 105,
    title: 'P95 of the slowest second',
    description: `The highest P95 of any second within the board's time, of the ${SLOWEST_SHOWN} slowest operations.`,
    unit: units.ms,
    colour: 'blue',
    w: SLOWEST,
    names: true,
    shows: {
      ask: overall,
      select: 'max("p95")',
      from: ['operation_ms'],
      by: ['scenario', 'operation'],
      alias: '$tag_scenario $tag_operation',
    },
  }).transformations(highestSeries(SLOWEST_SHOWN));

/** @param {string} board that has the row */
const scenarios = (board) =>
  table({
    id: 106,
    title: 'Scenarios',
    description:
      "Scenarios that have ended. A click on a scenario shows it on its system's board, one on its beginning zooms this board to it.",
    empty: 'no scenario has ended yet',
    columns: [
      // The board's name is in its address too.
      { name: 'system', width: 100, texts: BOARDS },
      {
        name: 'scenario',
        width: 160,
        links: [
          linkTo(
            'Show this scenario',
            '${__data.fields.system}',
            `\${testid:queryparam}&\${baseline:queryparam}&var-scenario=\${__data.fields.scenario}&${AT_ITS_TIME}`,
          ),
        ],
      },
      { name: 'verdict', width: 120, colours: VERDICTS },
      { name: 'trusted', title: 'figures', width: 100, colours: TRUST },
      {
        name: 'began_ms',
        title: 'began',
        width: 100,
        unit: units.timeOfDay,
        links: [
          linkTo(
            'Zoom to this scenario',
            board,
            `\${testid:queryparam}&\${baseline:queryparam}&\${scenario:queryparam}&${AT_ITS_TIME}`,
          ),
        ],
      },
      { name: 'seconds', title: 'lasted', fitted: true, unit: units.seconds, decimals: 1 },
      { name: 'reasons', long: true },
      ...['from', 'to'].map((name) => ({ name, hidden: true })),
    ],
    shows: {
      select:
        '"system", "scenario", "verdict", "trusted", "began_ms", "seconds", "reasons", ' +
        `"began_ms" - ${MARGIN_MS} AS "from", "ended_ms" + ${MARGIN_MS} AS "to"`,
      from: ['verdicts'],
      where: CHOSEN_SCENARIOS,
    },
  });

const thresholdTable = () =>
  table({
    id: 107,
    title: 'Thresholds',
    description:
      'What was asked of each operation and what was measured, judged when a scenario has ended. A dash: nothing to judge.',
    empty: 'no threshold has been judged yet',
    columns: [
      { name: 'ok', title: 'holds', fitted: true, colours: HOLDS },
      { name: 'scenario', width: 160 },
      { name: 'operation' },
      { name: 'threshold', width: 300 },
      { name: 'value', width: 120 },
      { name: 'bound', width: 120 },
      { name: 'unit', width: 100 },
    ],
    shows: { from: ['thresholds'], where: CHOSEN_SCENARIOS },
  }).sortBy([{ build: () => ({ displayName: 'holds', desc: false }) }]);
