/** Marks on every graph: when scenarios began and ended, with what verdict, and what could not be streamed. */
import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE, RUN } from './influx.js';

/** @typedef {import('@grafana/grafana-foundation-sdk/dashboard').AnnotationTarget} AnnotationTarget */

/**
 * The InfluxDB data source takes its query where the SDK knows of Grafana's own annotations only. It drops rows that
 * have an empty column, so that verdict, which most events have not, must be in the title.
 * https://grafana.com/docs/grafana/latest/datasources/influxdb/query-editor/#apply-annotations
 * @param {string} name
 * @param {string} colour
 * @param {string[]} kinds of events
 */
const events = (name, colour, kinds) =>
  new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .iconColor(colour)
    .target({
      build: () =>
        /** @type {AnnotationTarget} */ ({
          limit: 100,
          matchAny: false,
          tags: [],
          type: 'tags',
          refId: name,
          fromAnnotations: true,
          rawQuery: true,
          query: `SELECT "title", "text", "kind", "scenario" FROM "events" WHERE ${RUN} AND "kind" =~ /^(${kinds.join('|')})$/ AND $timeFilter`,
          titleColumn: 'title',
          textColumn: 'text',
          tagsColumn: 'kind,scenario',
        }),
    });

export const annotations = () => [
  events('Begin', 'blue', ['run_start', 'start']),
  events('End and verdict', 'purple', ['end', 'run_end']),
  events('Not streamed', 'orange', ['gap']),
];
