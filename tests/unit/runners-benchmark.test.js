/** The table of benchmark-kubernetes and benchmark-runners, from runs with known figures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, table } from '../../benchmarks/runners/table.js';

const PLACES = ['on the machine', 'in the cluster'];

/**
 * @param {string} where
 * @param {number} rate
 * @param {number[]} starts
 * @param {{ cpu_s: number, load_s: number }} [coordinator]
 * @param {string[]} reasons
 */
const run = (where, rate, starts, coordinator, reasons = []) => ({
  where,
  record: { scenarios: [{ coordinator }] },
  result: {
    verdict: reasons.length > 0 ? 'inconclusive' : 'pass',
    reasons: reasons.map((text) => ({ text })),
    operations: [{ rate_per_s: rate, latency_ms: { p50: 1, p95: 10 * rate, p99: 4 } }],
    runners: starts.map((at) => ({ start_offset_ms: at })),
  },
});

test('medians, ratios of the same round, and the reasons of what did not pass', () => {
  const runs = [
    run('on the machine', 100, [0.25, 0.5], { cpu_s: 0.1, load_s: 10 }),
    run('in the cluster', 50, [0.5, 3], { cpu_s: 0.2, load_s: 10 }, ['too busy']),
    run('in the cluster', 75, [0, 0]),
    run('on the machine', 300, [0.5, 0.5], { cpu_s: 0.3, load_s: 10 }),
  ];
  const text = table('the load', runs, PLACES);
  const rows = text.split('\n').filter((line) => /^\| (on|in) /.test(line));
  assert.deepEqual(rows, [
    '| on the machine | pass | 200 | 1.0 | 2000.0 | 4.0 | 1.00 | 1.00 | 1.00 | 1.00 | 0.0–0.3 | 0.200 | 2.00 % |',
    '| in the cluster | inconclusive, pass | 63 | 1.0 | 625.0 | 4.0 | 0.38 | 1.00 | 0.38 | 1.00 | 0.0–2.5 | 0.200 | 2.00 % |',
  ]);
  assert.match(text, /^- in the cluster: too busy$/m);
});

test('a figure that no run has is none', () => {
  const text = table('the load', [run('1', 100, []), run('2', 100, [0, 0])], ['1', '2']);
  assert.match(text, /^\| 1 .*\| — \| — \| — \|$/m);
  assert.match(text, /\| 0\.0–0\.0 \| — \| — \|/);
  assert.equal(median([]), undefined);
});
