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
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import * as heatmaps from '@grafana/grafana-foundation-sdk/heatmap';
import * as stats from '@grafana/grafana-foundation-sdk/stat';
import * as tables from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import * as trends from '@grafana/grafana-foundation-sdk/trend';
import { DATASOURCE } from './influx.js';

/**
 * @typedef {object} Spec
 * @property {number} id
 * @property {string} title
 * @property {string} description what it shows, and what to make of it
 * @property {string} unit
 * @property {number} w of 24
 * @property {number} [h] of about 30 pixels each
 */

/** Points are of a second each. */
const LEAST_INTERVAL = '1s';
/** A quarter of an hour of seconds, however narrow a panel is. */
const MOST_POINTS = 1000;

/**
 * @template {{ id(id: number): P, title(t: string): P, description(d: string): P, unit(u: string): P, span(w: number): P,
 *   height(h: number): P, datasource(ref: object): P }} P
 * @param {P} panel
 * @param {Spec} spec
 * @returns {P}
 */
const usual = (panel, { id, title, description, unit, w, h = 8 }) =>
  panel.id(id).title(title).description(description).unit(unit).span(w).height(h).datasource(DATASOURCE);

/** @param {string[]} calcs */
const legend = (calcs) =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(calcs.length > 0 ? LegendDisplayMode.Table : LegendDisplayMode.List)
    .placement(LegendPlacement.Bottom)
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

/** @param {Spec & { log?: boolean, calcs?: string[] }} spec log for latencies, which span decades; calcs of the legend */
export const graph = ({ log = false, calcs = ['mean', 'max', 'lastNotNull'], ...spec }) =>
  lines(usual(new timeseries.PanelBuilder(), spec), log)
    .interval(LEAST_INTERVAL)
    .maxDataPoints(MOST_POINTS)
    .fillOpacity(8)
    .legend(legend(calcs));

/** @param {Spec & { noValue?: string }} spec noValue is shown where there is nothing yet */
export const table = ({ noValue = '–', ...spec }) =>
  usual(new tables.PanelBuilder(), spec).noValue(noValue).showHeader(true).filterable(false);

/** @param {Spec & { noValue?: string, names?: boolean }} spec names of the series are shown beside their values */
export const stat = ({ noValue = '–', names = false, ...spec }) =>
  usual(new stats.PanelBuilder(), { h: 5, ...spec })
    .interval(LEAST_INTERVAL)
    .noValue(noValue)
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Background)
    .textMode(names ? BigValueTextMode.ValueAndName : BigValueTextMode.Value)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false));

/** Of series that are named by their bucket's upper bound. @param {Spec} spec */
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
    .mode(TooltipDisplayMode.Single)
    .showYHistogram();

/** @param {Spec & { x: string, log?: boolean }} spec x is the column that names the bars */
export function bars({ x, log = false, ...spec }) {
  const panel = usual(new barchart.PanelBuilder(), spec)
    .xField(x)
    .showValue(VisibilityMode.Auto)
    .stacking(StackingMode.None)
    .xTickLabelRotation(-30)
    .xTickLabelMaxLength(24)
    .fillOpacity(70)
    .legend(legend([]))
    .tooltip(tooltip());
  return log ? panel.scaleDistribution(logarithmic()) : panel;
}

/** @param {Spec & { x: string, log?: boolean }} spec x is the column of the horizontal axis, a number */
export const trend = ({ x, log = false, ...spec }) =>
  lines(usual(new trends.PanelBuilder(), spec), log)
    .xField(x)
    .fillOpacity(0)
    .legend(legend(['mean', 'max']));
