/**
 * A board's JSON by the types of Grafana's foundation SDK. Enumerations are their values, and a panel's
 * options and fields have the type of the panel's kind. Queries have the type of the InfluxDB data source,
 * which the SDK lacks.
 */
import type * as barchart from '@grafana/grafana-foundation-sdk/barchart';
import type * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import type * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import type * as stat from '@grafana/grafana-foundation-sdk/stat';
import type * as table from '@grafana/grafana-foundation-sdk/table';
import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import type * as trend from '@grafana/grafana-foundation-sdk/trend';

type IsAny<T> = 0 extends 1 & T ? true : false;

/** As JSON has it. */
type Plain<T> =
  IsAny<T> extends true
    ? T
    : T extends string
      ? string extends T
        ? T
        : `${T}`
      : T extends number
        ? number extends T
          ? T
          : `${T}` extends `${infer N extends number}`
            ? N
            : never
        : T extends (infer U)[]
          ? Plain<U>[]
          : T extends object
            ? { [K in keyof T]: Plain<T[K]> }
            : T;

interface DataSource {
  type: 'influxdb';
  uid: 'windtunnel-influx';
}

/** public/app/plugins/datasource/influxdb/types.ts of Grafana. */
export interface Target {
  refId: string;
  datasource: DataSource;
  query: string;
  rawQuery: true;
  resultFormat: 'time_series' | 'table';
  alias?: string;
}

interface FieldConfigOf<Custom> {
  defaults: Omit<Plain<dashboard.FieldConfig>, 'custom'> & { custom?: Plain<Custom> };
  overrides: Plain<dashboard.FieldConfigSource>['overrides'];
}

type PanelOf<Type extends string, Options, Custom> = Omit<
  Plain<dashboard.Panel>,
  'type' | 'targets' | 'options' | 'fieldConfig' | 'datasource'
> & {
  type: Type;
  datasource: DataSource;
  targets: Target[];
  options: Plain<Options>;
  fieldConfig: FieldConfigOf<Custom>;
};

export type Panel =
  | PanelOf<'timeseries', timeseries.Options, timeseries.FieldConfig>
  | PanelOf<'stat', stat.Options, never>
  | PanelOf<'table', table.Options, table.FieldConfig>
  | PanelOf<'heatmap', heatmap.Options, heatmap.FieldConfig>
  | PanelOf<'barchart', barchart.Options, barchart.FieldConfig>
  | PanelOf<'trend', trend.Options, trend.FieldConfig>;

export type Row = Omit<Plain<dashboard.RowPanel>, 'panels'> & { panels: Panel[] };

/** The InfluxDB data source reads its query from the place of Grafana's own annotations. */
type Annotation = Omit<Plain<dashboard.AnnotationQuery>, 'target' | 'datasource'> & {
  datasource: DataSource;
  target: Plain<dashboard.AnnotationTarget> & {
    refId: string;
    fromAnnotations: true;
    rawQuery: true;
    query: string;
    titleColumn: string;
    textColumn: string;
    tagsColumn: string;
    timeEndColumn?: string;
  };
};

export type Board = Omit<Plain<dashboard.Dashboard>, 'panels' | 'annotations'> & {
  panels: (Panel | Row)[];
  annotations: { list: Annotation[] };
};
