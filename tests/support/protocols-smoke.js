/** Checks of a smoke run's scenarios of protocols and of a link. */
import assert from 'node:assert/strict';
import { protocolRow, protocolRows, rowsOf, sectionOf } from './sections.js';
import { timely } from './timely.js';

/** @typedef {ReturnType<typeof import('./bench.js').startBench>} Bench */

/** Figures of both sides of a row. */
const FIGURES = [
  'handshake_ms',
  'rtt_ms',
  'mbit_1k',
  'mbit_64k',
  'mbit_1m',
  'mbit_64k_up',
  'udp_rtt_ms',
  'cpu_s_per_gib',
  'turn_cpu_s',
  'parts_cpu_s',
  'peak_rss_mib',
  'peak_anon_mib',
  'measuring_cpus',
];
/** Figures of many tunnels at once, which a run with a candidate has. */
const OF_TUNNELS = [
  'tunnels_10_p95_ms',
  'tunnels_100_p95_ms',
  'tunnels_100_anon_mib',
  'tunnels_100_carried_share',
];

/** Each side of the matrix's row is measured. @param {Bench} bench @param {string} row @param {string[]} [figures] */
export function assertMatrix(bench, row, figures = FIGURES) {
  const result = bench.result('protocols-matrix');
  const { baseline, candidate } = protocolRow(result, row);
  const ends = rowsOf(sectionOf(result, 'half_close')).find((one) => one.row === row);
  for (const end of [ends?.baseline, ends?.candidate]) assert.match(end, /passes FIN|closes both ways/);
  for (const { outcome, detail, figures: found } of [baseline, candidate]) {
    assert.equal(outcome, 'measured', detail);
    for (const name of figures) assert.ok(found[name]?.median > 0, name);
    assert.ok(found.udp_lost_share.median < 0.05, `${found.udp_lost_share.median} of the datagrams lost`);
  }
}

/** @param {Bench} bench @param {string} row */
export const assertTunnels = (bench, row) => assertMatrix(bench, row, [...FIGURES, ...OF_TUNNELS]);

/** A chain of two rows carries payload in both hops, and each row does alone. @param {Bench} bench @param {string} one @param {string} other */
export function assertChain(bench, one, other) {
  const both = `${one}+${other}`;
  const rows = protocolRows(bench.result('protocols-chain'));
  assert.deepEqual(
    rows.map((/** @type {any} */ { row, baseline }) => [row, baseline.outcome]),
    [one, other, both].map((row) => [row, 'measured']),
  );
  for (const { baseline } of rows) assert.ok(baseline.figures.udp_rtt_ms.median > 0);
  const [first, second, chain] = rows.map(
    (/** @type {any} */ { baseline }) => baseline.figures.peak_anon_mib.median,
  );
  assert.ok(chain > Math.max(first, second), `memory of both hops: ${chain} MiB`);
  const { hop_1_cpu_s: near, hop_2_cpu_s: far } = rows[2].baseline.figures;
  const [less, more] = [near.median, far.median].sort((a, b) => a - b);
  assert.ok(
    less > more / 50,
    `each process of both hops carries the payload: ${near.median}, ${far.median} s`,
  );
}

/** A row over a link takes the round trips of its protocol. @param {Bench} bench */
export function assertTrips(bench) {
  const [row, ...others] = rowsOf(sectionOf(bench.result('link-protocols'), 'over_link'));
  assert.deepEqual([row.row, row.outcome, others], ['trojan', 'measured', []]);
  // TCP's handshake, TLS 1.3's, the payload's.
  timely(row.round_trips === 3, `${row.round_trips} round trips`);
}
