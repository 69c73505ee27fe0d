/** The count of rows that are told apart: known numbers, and R's binom.test. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, exactInterval } from '../../benchmarks/protocols-a-a/count.js';
import { table } from '../../benchmarks/protocols-a-a/table.js';

const digits = (/** @type {number[]} */ values) => values.map((value) => Number(value.toFixed(4)));

test('the interval is that of Clopper and Pearson', () => {
  assert.deepEqual(digits(exactInterval(0, 10)), [0, 0.3085]);
  assert.deepEqual(digits(exactInterval(5, 10)), [0.1871, 0.8129]);
  assert.deepEqual(digits(exactInterval(10, 10)), [0.6915, 1]);
  assert.deepEqual(digits(exactInterval(3, 60)), [0.0104, 0.1392]);
});

/** @param {string} row @param {string[]} different targets @param {string[]} [missed] @param {number | null} [low] */
const compared = (row, different, missed = [], low = 0.9) => ({
  row,
  comparison: ['throughput', 'latency', 'memory'].map((target) => ({
    target,
    low,
    different: different.includes(target),
    judged: missed.includes(target) ? 'missed' : 'met',
  })),
});

const RUNS = [
  {
    rows: [
      compared('socks', []),
      compared('trojan', ['latency', 'memory'], ['memory']),
      compared('tuic', [], [], null),
    ],
  },
  { rows: [compared('socks', ['latency']), compared('trojan', ['latency']), { row: 'ssh', comparison: [] }] },
];

test('a row is counted once a run, and one without intervals not at all', () => {
  const counted = count(RUNS);
  assert.deepEqual(
    [counted.runs, counted.compared, counted.flagged, counted.missed, counted.share],
    [2, 4, 3, 1, 0.75],
  );
  assert.deepEqual(counted.rows, [
    { row: 'socks', compared: 2, flagged: 1, missed: 0, targets: { latency: 1 } },
    { row: 'trojan', compared: 2, flagged: 2, missed: 1, targets: { latency: 2, memory: 1 } },
  ]);
});

test('three of four refute one in twenty, three of sixty do not', () => {
  assert.equal(count(RUNS).refuted, true);
  const rows = Array.from({ length: 60 }, (_, index) =>
    compared(`row-${index}`, index < 3 ? ['memory'] : []),
  );
  const { share, refuted } = count([{ rows }]);
  assert.deepEqual([share, refuted], [0.05, false]);
});

test('the table says what was counted, or that nothing was', () => {
  const of = { baseline: { engine: 'sing-box', version: '1.12.12' }, turns: 8 };
  const text = table(count(RUNS), of);
  assert.match(text, /^# sing-box 1\.12\.12 against itself, 2 runs of 8 turns\n/);
  assert.match(
    text,
    /Of 4 rows 3 were told apart: 75\.0 % .*\n1 missed a target\. At most 5\.0 % are promised: refuted\./,
  );
  assert.match(text, /\| trojan \| 2 \| 2 \| latency 2, memory 1 \| 1 \|/);
  assert.match(table(count([]), of), /No row was compared/);
});
