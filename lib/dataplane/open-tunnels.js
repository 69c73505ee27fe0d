/**
 * Tunnels that are open at the same time: their metrics and their table.
 *
 * | metric             | type    | unit  | what                                                     |
 * |--------------------|---------|-------|----------------------------------------------------------|
 * | tunnels_asked      | counter | count | tunnels requested                                        |
 * | tunnels_open_all_s | trend   | s     | time until all tunnels were open, one sample per probe   |
 * | tunnels_bytes_each | trend   | bytes | memory per tunnel of a newly started proxy               |
 */
import { Counter, Trend } from 'k6/x/windtunnel/record';
import { submetric } from '../operations.js';
import { sectionOf } from '../section.js';

const asked = new Counter('tunnels_asked');
const openAll = new Trend('tunnels_open_all_s');
const perTunnel = new Trend('tunnels_bytes_each');

/** @param {string} operation @param {import('../meter.js').Measured | null} measured */
export function recordOpening(operation, measured) {
  const tunnels = measured?.outcome.tunnels;
  if (!tunnels) return;
  asked.add(tunnels.asked, { operation });
  openAll.add(tunnels.open_all_s, { operation });
}

/** @param {string} operation @param {number | null} bytes null: unknown */
export function recordPerTunnel(operation, bytes) {
  if (bytes !== null) perTunnel.add(bytes, { operation });
}

const KIB = 1024;

/** @type {import('../section.js').Column<ReturnType<typeof tunnelsOf>>[]} */
const COLUMNS = [
  ['asked', 'Asked', 'count'],
  ['open', 'Open', 'count'],
  ['open_all_s', 'All within', 's', { digits: 3 }],
  ['direct_open_all_s', 'Direct', 's', { digits: 3 }],
  ['kib_each', 'Memory each', 'KiB', ({ bytes_per_tunnel: bytes }) => bytes && bytes / KIB],
];

/** @param {ReturnType<typeof tunnelsOf>[]} rows */
export const tunnelsSection = (rows) =>
  sectionOf({
    name: 'tunnels',
    title: 'Tunnels open at once',
    columns: COLUMNS,
    rows,
    notes: [
      "Numbers of all rounds together, times and memory the median of them. Memory is what all of the system's processes grew by.",
    ],
    plot: { kind: 'line', x: 'asked', y: ['open_all_s', 'direct_open_all_s'] },
  });

/** The row for a number of tunnels. @param {import('k6/x/windtunnel/record').Metrics} metrics @param {number} level number of tunnels */
export function tunnelsOf(metrics, level) {
  const of = (/** @type {string} */ metric, /** @type {string} */ operation) => {
    const values = metrics[submetric(metric, operation)]?.values;
    return values && values.count > 0 ? values.med : null;
  };
  const opened = metrics[submetric('operation_ms', `open_${level}`)]?.values.count ?? 0;
  return {
    asked: metrics[submetric('tunnels_asked', `request_${level}`)]?.values.count ?? 0,
    open: opened,
    open_all_s: of('tunnels_open_all_s', `request_${level}`),
    direct_open_all_s: of('tunnels_open_all_s', `request_${level}_direct`),
    bytes_per_tunnel: of('tunnels_bytes_each', `request_${level}`),
  };
}
