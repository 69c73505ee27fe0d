/** Counts of the matrix's judgements on equal sides. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { count, runOf } from '../../benchmarks/protocols-a-a/count.js';
import { table } from '../../benchmarks/protocols-a-a/table.js';

/** @param {string} row @param {(string | null)[]} judged throughput, latency, memory, first reply @param {number} [turns] */
const compared = (row, judged, turns = 8) => ({
  row,
  turns,
  comparison: ['throughput', 'latency', 'memory', 'first reply'].map((target, index) => ({
    target,
    judged: judged[index] ?? null,
  })),
});

const RUNS = [
  {
    verdict: 'fail',
    compared: [
      compared('socks', ['met', 'met', 'met']),
      compared('trojan', ['bound', 'missed', 'missed'], 18),
    ],
  },
  {
    verdict: 'inconclusive',
    compared: [compared('socks', ['uncertain', 'met', 'met']), compared('trojan', ['met', 'met', 'met'])],
  },
];

test('targets are counted by row, and a run that missed some once', () => {
  assert.deepEqual(count(RUNS), {
    runs: 2,
    pass: 0,
    fail: 1,
    inconclusive: 1,
    missing: 1,
    rows: [
      { row: 'socks', met: 5, missed: 0, uncertain: 1, turns: 8, untold: { throughput: 1 } },
      {
        row: 'trojan',
        met: 3,
        missed: 2,
        uncertain: 1,
        turns: 18,
        untold: { throughput: 1, latency: 1, memory: 1 },
      },
    ],
  });
});

test('the table says what was counted, or that nothing was', () => {
  const of = { title: 'sing-box 1.12.12', turns: 8 };
  const text = table(count(RUNS), of);
  assert.match(text, /^# sing-box 1\.12\.12 against itself, 2 runs of 8 turns and further ones\n/);
  assert.match(
    text,
    /1 of 2 runs missed a target; 0 passed, 1 failed, 1 were inconclusive\. Of 12 targets\n8 were/,
  );
  assert.match(text, /\| trojan \| 3 \| 2 \| 1 \| throughput 1, latency 1, memory 1 \| 18 \|/);
  assert.match(table(count([]), of), /No row was compared/);
});

test('what was compared is read from the table of a kept result', () => {
  const path = '../../results/baselines/protocols-sing-box-1.13.14-16-turns/protocols-matrix.json';
  const { verdict, compared: found } = runOf(
    JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')),
  );
  assert.equal(verdict, 'pass');
  assert.deepEqual(
    found.map(({ row }) => row),
    ['trojan-mux', 'hysteria', 'anytls', 'selector'],
  );
  for (const { comparison } of found)
    for (const { target, judged } of comparison)
      assert.equal(judged, target === 'first reply' ? null : 'met', target);
});
