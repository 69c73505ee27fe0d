/** The bounds of thresholds as dashed lines on graphs. */
import { CHOSEN, overTime, series } from '../../parts/influx.js';

/**
 * The bounds that a kind of threshold has, while k6 runs. They are series, because Grafana widens no axis for
 * a threshold.
 * @param {string} threshold regular expression
 * @param {string} line
 */
export const bounds = (threshold, line) =>
  series(
    'bound',
    overTime({
      select: 'last("bound")',
      from: ['bounds'],
      where: [...CHOSEN, `"threshold" =~ /^${threshold}/`],
      by: [line],
      fill: 'none',
    }),
    `bound $tag_${line}`,
  );

/** @template {import('@grafana/grafana-foundation-sdk/timeseries').PanelBuilder} P @param {P} panel @returns {P} */
export const dashingBounds = (panel) =>
  panel.overrideByRegexp('/^bound /', [
    { id: 'color', value: { mode: 'fixed', fixedColor: 'red' } },
    { id: 'custom.lineStyle', value: { fill: 'dash', dash: [10, 10] } },
    { id: 'custom.fillOpacity', value: 0 },
    // They are written every ten seconds.
    { id: 'custom.spanNulls', value: true },
    { id: 'custom.showPoints', value: 'never' },
    { id: 'custom.hideFrom', value: { legend: true, tooltip: false, viz: false } },
  ]);
