/**
 * The run beside another one. The runs have different times, and a time shift has no effect on absolute
 * ranges. So figures of whole runs stand beside each other, and graphs use the seconds since each run's
 * start.
 */
import { GraphGradientMode } from '@grafana/grafana-foundation-sdk/common';
import { byThresholds, mapped, thresholds } from '../../parts/colours.js';
import { CHOSEN, CHOSEN_OF_BASELINE, points, rows, series } from '../../parts/influx.js';
import { bars, readable, table, trend } from '../../parts/panels.js';
import { calculated, joinedBy, numbered, onlyColumns, withoutColumns } from '../../parts/transformations.js';
import { units } from '../../parts/units.js';

/** Columns of `results`, by their names here. */
const FIGURES = { Rate: 'rate_per_s', Average: 'avg_ms', P50: 'p50_ms', P95: 'p95_ms', P99: 'p99_ms' };
const LATENCIES = ['P50', 'P95'];
/** Any success has an average; a percentile needs more of them. */
const CHANGES = ['Average'];
/** Unpaired runs that differ by less are ties. */
const TIE = 0.1;
/** The longest part of the runs that the comparison over time shows, s. */
const MOST_SECONDS = 3600;

/** Results of Grafana's calculation if a run lacks a figure: Grafana replaces the figure by 0. */
const NO_CHANGE = mapped({ NaN: ['–'], Infinity: ['–'], '-1': ['–'] });

/** Names that a table shows unchanged. A name is the key of a cell, so each name is unique and short. */
const ofBaseline = (/** @type {string} */ figure) => `${figure} base`;
const change = (/** @type {string} */ figure) => `${figure} Δ`;
const ratio = (/** @type {string} */ figure) => `${figure} ratio`;

/** @returns {import('../board.js').Row} */
export const baselineRow = () => ({
  id: 600,
  title: 'Against the baseline: $scenario',
  repeat: 'scenario',
  collapsed: true,
  panels: [figures(), latencies(), changes(), seconds()],
});

/** @param {string} name */
const columnOf = (name) => `"${FIGURES[/** @type {'P50'} */ (name)]}"`;

/** @param {string} refId @param {string[]} where @param {(figure: string) => string} named @param {string[]} names */
const results = (refId, where, named, names) =>
  rows(
    refId,
    points({
      select: ['"operation"', ...names.map((name) => `${columnOf(name)} AS "${named(name)}"`)].join(', '),
      from: ['results'],
      where,
    }),
  );

const self = (/** @type {string} */ figure) => figure;

/**
 * Both runs in one row for each operation.
 * @param {string[]} names of figures
 * @param {{ complete?: boolean }} [of] complete: only operations with all of these figures in both runs
 * @returns {{ targets: import('../../parts/influx.js').Target[], joined: import('../../parts/transformations.js').Transformation[] }}
 */
function sideBySide(names, { complete = false } = {}) {
  const there = complete ? names.map((name) => `${columnOf(name)} >= 0`) : [];
  return {
    targets: [
      results('run', [...CHOSEN, ...there], self, names),
      results('baseline', [...CHOSEN_OF_BASELINE, ...there], ofBaseline, names),
    ],
    joined: [withoutColumns('Time'), joinedBy('operation', complete ? 'inner' : 'outer')],
  };
}

/** @param {string[]} names */
const changed = (names) =>
  names.flatMap((name) => [
    calculated(ratio(name), name, '/', ofBaseline(name)),
    calculated(change(name), ratio(name), '-', 1),
  ]);

const figures = () => {
  const names = Object.keys(FIGURES);
  const { targets, joined } = sideBySide(names);
  return table({
    id: 601,
    title: 'Figures of both runs',
    description:
      'Exact figures of the whole runs. Base is the baseline; Δ is the change from the baseline. Two runs cannot tell whether a difference is real: `make compare` can.',
    unit: units.ms,
    empty: 'neither run has a result of this scenario yet',
    transformations: [...joined, ...changed(names)],
    columns: [
      { name: 'operation' },
      ...names.flatMap((name) => [
        { name, fitted: true, ...unitOf(name) },
        { name: ofBaseline(name), fitted: true, ...unitOf(name) },
        {
          name: change(name),
          fitted: true,
          unit: units.share,
          decimals: 1,
          texts: NO_CHANGE,
        },
        { name: ratio(name), hidden: true },
      ]),
    ],
  }).targets(targets);
};

/** @param {string} name of a figure; the others are latencies, as the panel is */
const unitOf = (name) => (name === 'Rate' ? { unit: units.requests } : {});

/** Height of a panel of horizontal bars. */
const HEIGHT = 12;

const latencies = () => {
  const { targets, joined } = sideBySide(LATENCIES);
  return bars({
    id: 602,
    title: 'Latencies of both runs',
    description: `P50 and P95 of the whole runs, of the ${readable(HEIGHT)} operations with the highest P95; none where there were too few samples for it.`,
    unit: units.ms,
    w: 8,
    h: HEIGHT,
    x: 'operation',
    by: 'P95',
    empty: 'neither run has a result of this scenario yet, or too few samples for a percentile',
    transformations: joined,
  }).targets(targets);
};

const changes = () => {
  const { targets, joined } = sideBySide(CHANGES, { complete: true });
  return (
    bars({
      id: 603,
      title: 'Change of average latency',
      description: `Of the run against the baseline: above zero is slower. Grey is below 10 %, a tie between two runs. Only operations that succeeded in both runs, the ${readable(HEIGHT)} that became slowest; the others, and changes of percentiles, are in the table.`,
      unit: units.share,
      w: 8,
      h: HEIGHT,
      x: 'operation',
      by: change('Average'),
      empty: 'no operation has succeeded in both runs',
      transformations: [...joined, ...changed(CHANGES), onlyColumns('/^operation$| Δ$/')],
    })
      .thresholds(
        thresholds([
          [null, 'green'],
          [-TIE, 'gray'],
          [TIE, 'red'],
        ]),
      )
      .colorScheme(byThresholds())
      // Otherwise all bars would have the colour of the last one.
      .gradientMode(GraphGradientMode.Scheme)
      .targets(targets)
  );
};

const seconds = () => {
  const p95 = (/** @type {string} */ refId, /** @type {string[]} */ where, /** @type {string} */ alias) =>
    series(
      refId,
      points({
        select: '"p95"',
        from: ['operation_ms'],
        where,
        by: ['operation'],
        order: `LIMIT ${MOST_SECONDS}`,
      }),
      alias,
    );
  return trend({
    id: 604,
    title: 'P95 by second of each run',
    description: `Both runs from their first second with a success on, seconds without one left out; the first ${MOST_SECONDS} of them.`,
    unit: units.ms,
    w: 8,
    h: HEIGHT,
    x: 'second',
    log: true,
  })
    .targets([
      p95('run', CHOSEN, '$tag_operation'),
      p95('baseline', CHOSEN_OF_BASELINE, '$tag_operation, baseline'),
    ])
    .transformations([numbered('second'), withoutColumns('Time'), joinedBy('second')])
    .overrideByName('second', [{ id: 'unit', value: units.seconds }])
    .overrideByRegexp('/, baseline$/', [{ id: 'custom.lineStyle', value: { fill: 'dash', dash: [6, 6] } }]);
};
