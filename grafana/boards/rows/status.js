/** At a glance: does the system hold, and can the figures be believed? */
import { ReduceDataOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { units } from '../units.js';
import { HOLDS, VERDICTS, VERDICT_CODES, byThresholds, coloured, mapped, thresholds } from '../colours.js';
import { CHOSEN, CHOSEN_SCENARIOS, FAILED_SHARE, RUN, overall, points, rows, series } from '../influx.js';
import { BOARD_OF_SYSTEM, uidOf } from '../links.js';
import { stat, table } from '../panels.js';
import { calculated, floored, inOrder } from '../transformations.js';

/** Around a scenario, so that its marks are not on the graphs' edges. */
const MARGIN_MS = 2000;

/** Of what is not known yet: without it Grafana shows it on green. */
const UNKNOWN = thresholds([[null, 'gray']]);
const TRUST = mapped({ 1: ['trusted', 'green'], 0: ['doubtful', 'red'] });

/** @param {{ whole?: boolean }} [of] one verdict on the whole run @returns {import('../board.js').Row} */
export const statusRow = ({ whole = false } = {}) => ({
  id: 100,
  title: 'Status',
  panels: [
    whole ? verdict() : verdicts(),
    trust(),
    requests(),
    failed(),
    slowest(),
    scenarios(),
    thresholdTable(),
  ],
});

const verdicts = () =>
  stat({
    id: 101,
    title: 'Verdict',
    description:
      'The verdict on each scenario, once it has ended. Inconclusive: the generator was the bottleneck, or too few samples.',
    unit: units.none,
    w: 8,
    noValue: 'running',
    names: true,
  })
    .mappings(VERDICT_CODES)
    .thresholds(UNKNOWN)
    .colorScheme(byThresholds())
    .withTarget(
      series(
        'A',
        points({ select: 'last("code")', from: ['verdicts'], where: CHOSEN_SCENARIOS, by: ['scenario'] }),
        '$tag_scenario',
      ),
    );

/** Text, which Grafana only shows where it is asked for by name. */
const verdict = () =>
  stat({
    id: 101,
    title: 'Verdict',
    description:
      'The verdict on the whole run, once it has ended. Those on its scenarios are in the table below.',
    unit: units.none,
    w: 8,
    noValue: 'running',
  })
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('/^verdict$/').values(false))
    .mappings(VERDICTS)
    .thresholds(UNKNOWN)
    .colorScheme(byThresholds())
    .withTarget(
      series(
        'A',
        points({ select: 'last("verdict")', from: ['events'], where: [RUN, `"kind" = 'run_end'`] }),
        'verdict',
      ),
    );

const trust = () =>
  stat({
    id: 102,
    title: 'Can the figures be trusted?',
    description:
      'Doubtful where a check of validity failed: see the table of checks below. Known when a scenario has ended.',
    unit: units.none,
    w: 4,
    noValue: 'running',
  })
    .mappings(TRUST)
    .thresholds(UNKNOWN)
    .colorScheme(byThresholds())
    .withTarget(
      // A check that could not be made is -1: its square is 1, since it is no failure either.
      series(
        'A',
        `SELECT min("held") FROM (SELECT "ok" * "ok" AS "held" FROM "validity" WHERE ${CHOSEN_SCENARIOS.join(' AND ')})`,
        'trusted',
      ),
    );

const requests = () =>
  stat({
    id: 103,
    title: 'Requests',
    description: "Requests so far, within the board's time.",
    unit: units.count,
    w: 4,
  })
    .thresholds(thresholds([[null, 'blue']]))
    .colorScheme(byThresholds())
    .withTarget(
      series('A', overall({ select: 'sum("count")', from: ['operation_failed'], where: CHOSEN }), 'requests'),
    );

const failed = () =>
  stat({
    id: 104,
    title: 'Failed',
    description: "Share of the requests that failed so far, within the board's time.",
    unit: units.share,
    w: 4,
  })
    .thresholds(
      thresholds([
        [null, 'green'],
        [1e-9, 'red'],
      ]),
    )
    .colorScheme(byThresholds())
    .withTarget(
      series('A', overall({ select: FAILED_SHARE, from: ['operation_failed'], where: CHOSEN }), 'failed'),
    );

const slowest = () =>
  stat({
    id: 105,
    title: 'P95 of the slowest second',
    description:
      "The highest P95 of a second and an operation, within the board's time. Which one: see the rows below.",
    unit: units.ms,
    w: 4,
  })
    .thresholds(thresholds([[null, 'blue']]))
    .colorScheme(byThresholds())
    .withTarget(series('A', overall({ select: 'max("p95")', from: ['operation_ms'], where: CHOSEN }), 'P95'));

/** Hidden columns are there for the links. @param {string} name */
const hidden = (name) => ({
  matcher: { id: 'byName', options: name },
  properties: [{ id: 'custom.hidden', value: true }],
});

const scenarios = () =>
  table({
    id: 106,
    title: 'Scenarios',
    description: "Scenarios that have ended. A click shows one on its system's board, at its time.",
    unit: units.none,
    w: 10,
    noValue: 'none has ended yet',
  })
    .withTarget(
      rows(
        'A',
        points({
          select: '"system", "scenario", "verdict", "seconds", "reasons"',
          from: ['verdicts'],
          where: CHOSEN_SCENARIOS,
        }),
      ),
    )
    .transformations([
      calculated('lasted', 'seconds', '*', 1000),
      calculated('began', 'Time', '-', 'lasted'),
      calculated('early', 'began', '-', MARGIN_MS),
      floored('from', 'early'),
      calculated('to', 'Time', '+', MARGIN_MS),
      inOrder(['system', 'scenario', 'verdict', 'seconds', 'reasons', 'Time']),
    ])
    .overrides([
      {
        matcher: { id: 'byName', options: 'system' },
        // The board's name stands in its address too.
        properties: [
          {
            id: 'mappings',
            value: mapped(
              Object.fromEntries(
                Object.entries(BOARD_OF_SYSTEM).map(([system, board]) => [
                  system,
                  /** @type {[string]} */ ([board]),
                ]),
              ),
            ),
          },
        ],
      },
      {
        matcher: { id: 'byName', options: 'scenario' },
        properties: [
          {
            id: 'links',
            value: [
              {
                title: 'Show this scenario',
                url: `/d/${uidOf('${__data.fields.system}')}?\${testid:queryparam}&\${baseline:queryparam}&var-scenario=\${__data.fields.scenario}&from=\${__data.fields.from.numeric}&to=\${__data.fields.to.numeric}`,
                targetBlank: false,
              },
            ],
          },
        ],
      },
      { matcher: { id: 'byName', options: 'verdict' }, properties: coloured(VERDICTS) },
      {
        matcher: { id: 'byName', options: 'seconds' },
        properties: [
          { id: 'unit', value: units.seconds },
          { id: 'decimals', value: 1 },
        ],
      },
      {
        matcher: { id: 'byName', options: 'Time' },
        properties: [{ id: 'displayName', value: 'ended' }],
      },
      ...['lasted', 'began', 'early', 'from', 'to'].map(hidden),
    ]);

const thresholdTable = () =>
  table({
    id: 107,
    title: 'Thresholds',
    description:
      'What was asked of each operation and what was measured, judged when a scenario has ended. A dash: nothing to judge.',
    unit: units.none,
    w: 14,
    noValue: '–',
  })
    .withTarget(
      rows(
        'A',
        points({
          select: '"ok", "scenario", "operation", "threshold", "value", "bound", "unit"',
          from: ['thresholds'],
          where: CHOSEN_SCENARIOS,
        }),
      ),
    )
    .transformations([
      inOrder(['ok', 'scenario', 'operation', 'threshold', 'value', 'bound', 'unit', 'Time']),
    ])
    .overrides([
      {
        matcher: { id: 'byName', options: 'ok' },
        properties: [
          { id: 'displayName', value: 'holds' },
          { id: 'custom.width', value: 70 },
          ...coloured(HOLDS),
        ],
      },
      hidden('Time'),
    ])
    .sortBy([{ build: () => ({ displayName: 'holds', desc: false }) }]);
