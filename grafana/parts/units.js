/** Units by their names in the data model. */
import * as sdk from '@grafana/grafana-foundation-sdk/units';

export const units = {
  none: sdk.NoUnit,
  /** Milliseconds since 1970. */
  timeOfDay: 'time:HH:mm:ss',
  count: sdk.Short,
  ms: sdk.Milliseconds,
  microseconds: sdk.Microseconds,
  seconds: sdk.Seconds,
  share: sdk.PercentUnit,
  percent: sdk.Percent,
  requests: sdk.RequestsPerSecond,
  amount: sdk.CountsPerSecond,
  messages: sdk.MessagesPerSecond,
  bytes: sdk.BytesIEC,
  mebibytes: sdk.Mebibytes,
  mbit: sdk.MegabitsPerSecond,
};
