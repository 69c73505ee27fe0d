/** Marks in a separate strip: the time of each scenario, in its verdict's colour, and gaps in the stream. */
import {
  AnnotationPanelFilterBuilder,
  AnnotationQueryBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CHOSEN_SCENARIOS, DATASOURCE, OF_TREND, RUN } from '../parts/influx.js';
import { MARKS } from './rows/live.js';

/** @typedef {import('@grafana/grafana-foundation-sdk/cog').Dataquery} Dataquery */

/**
 * @typedef {object} Mark
 * @property {string} name
 * @property {string} colour
 * @property {string[]} where
 * @property {boolean} [region] from the event's time to its ended_ms
 * @property {boolean} [enable] until someone chooses otherwise
 */

/** @param {{ refId: string, query: string, tagsColumn: string, timeEndColumn?: string }} query */
const asked = (query) =>
  /** @type {Dataquery} */ (
    /** @type {unknown} */ ({
      limit: 100,
      matchAny: false,
      tags: [],
      type: 'tags',
      fromAnnotations: true,
      rawQuery: true,
      titleColumn: 'title',
      textColumn: 'text',
      ...query,
    })
  );

/**
 * The SDK knows Grafana's own annotations only, and the InfluxDB data source reads its query from the same place.
 * In an answer,
 * - columns are named MEASUREMENT.COLUMN. The mark's column names, except the end's, match a part of this name, and
 *   the first column without a match is the title
 * - rows with an empty column are dropped. A gap has no verdict, so verdicts are in the title.
 * https://grafana.com/docs/grafana/latest/datasources/influxdb/annotations/, response_parser.ts of the data source
 * @param {Mark} mark
 */
const events = ({ name, colour, where, region = false, enable = true }) =>
  new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(enable)
    .iconColor(colour)
    .filter(new AnnotationPanelFilterBuilder().exclude(false).ids([MARKS]))
    .target({
      build: () =>
        asked({
          refId: name,
          query:
            `SELECT "title", "text", "kind", "scenario"${region ? ', "ended_ms"' : ''} ` +
            `FROM "events" WHERE ${where.join(' AND ')}`,
          tagsColumn: 'kind,scenario',
          ...(region ? { timeEndColumn: 'events.ended_ms' } : {}),
        }),
    });

/**
 * The query has no filter of time, which would leave out a scenario that began before the board's time and still runs.
 * @param {string} name
 * @param {string} colour
 * @param {string} condition
 */
const verdict = (name, colour, condition) =>
  events({
    name,
    colour,
    where: [...CHOSEN_SCENARIOS, `"kind" = 'scenario'`, `"verdict" ${condition}`],
    region: true,
  });

/** Changes that Otava found, for the board about the trend. */
export const changes = () => [
  new AnnotationQueryBuilder()
    .name('Changes')
    .datasource(DATASOURCE)
    .enable(true)
    .iconColor('orange')
    .target({
      build: () =>
        asked({
          refId: 'Changes',
          query: `SELECT "title", "text", "metric", "scenario" FROM "trend_changes" WHERE ${[...OF_TREND, '$timeFilter'].join(' AND ')}`,
          tagsColumn: 'metric,scenario',
        }),
    }),
];

export const annotations = () => [
  verdict('Passed', 'green', `= 'pass'`),
  verdict('Failed', 'red', '=~ /^(fail|set-up failed)$/'),
  verdict('Undecided', 'orange', '!~ /^(pass|fail|set-up failed)$/'),
  events({
    name: 'Begin',
    colour: 'blue',
    where: [...CHOSEN_SCENARIOS, `"kind" = 'start'`, '$timeFilter'],
    enable: false,
  }),
  // A gap of the run itself concerns all of its scenarios.
  events({ name: 'Not streamed', colour: 'purple', where: [RUN, `"kind" = 'gap'`, '$timeFilter'] }),
];
