/** The kinds of panel that the boards are made of, each with its usual look. */
import * as barchart from '@grafana/grafana-foundation-sdk/barchart';
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  HeatmapCellLayout,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  ScaleDistribution,
  ScaleDistributionConfigBuilder,
  SortOrder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import * as heatmaps from '@grafana/grafana-foundation-sdk/heatmap';
import * as stats from '@grafana/grafana-foundation-sdk/stat';
import * as tables from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import * as trends from '@grafana/grafana-foundation-sdk/trend';
import { overridesOf, selected } from './columns.js';
import { byThresholds, thresholds } from './colours.js';
import { DATASOURCE, first } from './influx.js';
import { highest, inOrder, withoutColumns } from './transformations.js';
import { units } from './units.js';

/**
 * @typedef {object} Spec
 * @property {number} id
 * @property {string} title
 * @property {string} description what the panel shows, and how to read it
 * @property {string} unit
 * @property {number} w of 24
 * @property {number} [h] of about 30 pixels each
 * @property {Parameters<typeof first>[0]} [shows] its first query
 */

/** Points are one second long. */
const LEAST_INTERVAL = '1s';
/** More than the 900 seconds of 15 minutes, for any width of a panel. */
const MOST_POINTS = 1000;

/**
 * @template {{ id(id: number): P, title(t: string): P, description(d: string): P, unit(u: string): P, span(w: number): P,
 *   height(h: number): P, datasource(ref: object): P, withTarget(target: import('./influx.js').Target): P }} P
 * @param {P} panel
 * @param {Spec} spec
 * @returns {P}
 */
function usual(panel, { id, title, description, unit, w, h = 8, shows }) {
  panel.id(id).title(title).description(description).unit(unit).span(w).height(h).datasource(DATASOURCE);
  return shows ? panel.withTarget(first(shows)) : panel;
}

/** From this width on a legend has its figures in a table beside the graph; below, names alone take a line or two. */
const WIDE = 12;
const LEGEND_PX = 300;

/** @param {number} w of the panel @param {string[]} calcs */
const legend = (w, calcs) =>
  w < WIDE
    ? new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .calcs([])
    : new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Right)
        .width(LEGEND_PX)
        .calcs(calcs);

const tooltip = () =>
  new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending);

const logarithmic = () => new ScaleDistributionConfigBuilder().type(ScaleDistribution.Log).log(10);

/**
 * @template {timeseries.PanelBuilder | trends.PanelBuilder} P
 * @param {P} panel
 * @param {boolean} log
 * @returns {P}
 */
function lines(panel, log) {
  panel.lineWidth(1).showPoints(VisibilityMode.Auto).pointSize(4).spanNulls(false).tooltip(tooltip());
  // A logarithmic axis has no zero to begin from.
  if (log) panel.scaleDistribution(logarithmic());
  else panel.min(0);
  return panel;
}

/** @param {Spec & { log?: boolean, calcs?: string[] }} spec log for latencies, which span decades; calcs of the legend, where the graph is wide */
export const graph = ({ log = false, calcs = ['mean', 'max'], ...spec }) =>
  lines(usual(new timeseries.PanelBuilder(), spec), log)
    .interval(LEAST_INTERVAL)
    .maxDataPoints(MOST_POINTS)
    .fillOpacity(8)
    .legend(legend(spec.w, calcs));

/**
 * @param {Omit<Spec, 'shows' | 'unit' | 'w'> & { unit?: string, w?: number, columns: import('./columns.js').Column[], empty: string, shows?: Partial<NonNullable<Spec['shows']>>,
 *   transformations?: import('./transformations.js').Transformation[] }} spec columns from left to right, which are
 * selected unless the query says otherwise; empty is the text for a table without rows. Without transformations,
 * the time is left out if it is no column
 */
export const table = ({ columns, empty, transformations = timeless(columns), shows, ...spec }) =>
  usual(new tables.PanelBuilder(), {
    unit: units.none,
    w: 24,
    ...spec,
    ...(shows && { shows: { select: selected(columns), from: [], ...shows } }),
  })
    .noValue(empty)
    .showHeader(true)
    .filterable(false)
    .transformations([...transformations, inOrder(columns.map(({ name }) => name))])
    .overrides(overridesOf(columns));

/** @param {import('./columns.js').Column[]} columns */
const timeless = (columns) => (columns.some(({ name }) => name === 'Time') ? [] : [withoutColumns('Time')]);

/** Letters of tiles that share a panel, in pixels. Without this, the longest name would decide the size. */
const [NAME_PX, VALUE_PX] = [14, 20];

/**
 * @param {Spec & { colour: string, noValue?: string, names?: boolean }} spec colour of values without their own, which Grafana would show on green;
 * names of the series are shown beside their values
 */
export const stat = ({ colour, noValue = '–', names = false, ...spec }) => {
  const panel = usual(new stats.PanelBuilder(), { h: 4, ...spec });
  if (names) panel.text(new VizTextDisplayOptionsBuilder().titleSize(NAME_PX).valueSize(VALUE_PX));
  return panel
    .interval(LEAST_INTERVAL)
    .noValue(noValue)
    .thresholds(thresholds([[null, colour]]))
    .colorScheme(byThresholds())
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Background)
    .textMode(names ? BigValueTextMode.ValueAndName : BigValueTextMode.Value)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false));
};

/** For series that are named by their bucket's upper bound. @param {Spec} spec */
export const heatmap = (spec) =>
  usual(new heatmaps.PanelBuilder(), spec)
    .interval(LEAST_INTERVAL)
    .maxDataPoints(MOST_POINTS)
    .calculate(false)
    .rowsFrame(new heatmaps.RowsHeatmapOptionsBuilder().layout(HeatmapCellLayout.Le))
    .yAxis(new heatmaps.YAxisConfigBuilder().unit(spec.unit))
    .cellValues(new heatmaps.CellValuesBuilder().unit('short'))
    .color(
      new heatmaps.HeatmapColorOptionsBuilder()
        .mode(heatmaps.HeatmapColorMode.Scheme)
        .scheme('Turbo')
        .scale(heatmaps.HeatmapColorScale.Exponential)
        .exponent(0.5)
        .steps(64),
    )
    .tooltip(new heatmaps.HeatmapTooltipBuilder().mode(TooltipDisplayMode.Single).yHistogram(true));

/** The number of readable bar names: each needs 20 pixels, in the space that axis and legend leave. */
export const readable = (/** @type {number} */ h) => Math.floor((h * 30 - 80) / 20);

/**
 * Horizontal bars, the longest on top, as many as fit with readable names.
 * @param {Spec & { h: number, x: string, by: string, log?: boolean, empty: string,
 *   transformations: import('./transformations.js').Transformation[] }} spec x is the column that names the
 * bars, by the column that sorts them; empty is the text for a panel without bars
 */
export function bars({ x, by, log = false, empty, transformations, ...spec }) {
  const panel = usual(new barchart.PanelBuilder(), spec)
    .noValue(empty)
    .xField(x)
    .orientation(VizOrientation.Horizontal)
    .transformations([...transformations, ...highest(by, readable(spec.h))])
    .showValue(VisibilityMode.Auto)
    .stacking(StackingMode.None)
    .xTickLabelMaxLength(24)
    .fillOpacity(70)
    .legend(legend(0, []))
    .tooltip(tooltip());
  return log ? panel.scaleDistribution(logarithmic()) : panel;
}

/** @param {Spec & { x: string, log?: boolean }} spec x is the column of the horizontal axis, a number */
export const trend = ({ x, log = false, ...spec }) =>
  lines(usual(new trends.PanelBuilder(), spec), log)
    .xField(x)
    .fillOpacity(0)
    .legend(legend(spec.w, ['mean', 'max']));
