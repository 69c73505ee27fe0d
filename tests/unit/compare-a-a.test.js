import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { count, madeOf, row } from '../../benchmarks/compare-a-a/count.js';

const SLOWED = fileURLToPath(new URL('../../benchmarks/compare-a-a/slowed.py', import.meta.url));

const comparison = (verdict, pairs) => ({
  verdict,
  a: { runs: Array(pairs).fill({}) },
  metrics: [
    { role: 'primary', title: 'TCP throughput', change: { estimate: -13 } },
    { role: 'secondary', title: 'TCP P99', change: null },
  ],
});

test('the verdicts of comparisons are counted, with how long they took', () => {
  const made = [
    madeOf(comparison('pass', 12), 20),
    madeOf(comparison('fail', 18), 30),
    madeOf(comparison('pass', 12), 40),
    madeOf(comparison('inconclusive', 56), 100),
  ];
  assert.deepEqual(made[0].primary, [{ title: 'TCP throughput', change: -13 }]);
  const counted = count(made);
  assert.deepEqual(counted, {
    comparisons: 4,
    pass: 2,
    fail: 1,
    inconclusive: 1,
    pairs: 15,
    seconds: 35,
    slowest: 100,
  });
  assert.equal(row('equal', counted), '| equal | 4 | 2 | 1 | 1 | 15 | 35 s | 100 s |');
});

test('a program that is slowed keeps its process, its output and its exit code', () => {
  const script = 'echo $$; exit 7';
  const { status, stdout, pid } = spawnSync('python3', [SLOWED, '15', 'sh', '-c', script], {
    encoding: 'utf8',
  });
  assert.equal(status, 7);
  assert.equal(Number(stdout), pid);
});

test('a program that is slowed stands still for its share of the time', () => {
  // Of one and the same second of a busy loop, slowed by 100 % it has the CPU for half of what it has by 1 %.
  const loop =
    'import time\nend=time.monotonic()+1\nwhile time.monotonic()<end: pass\nprint(time.process_time())';
  const cpu = (percent) =>
    Number(
      spawnSync('python3', [SLOWED, String(percent), 'python3', '-c', loop], { encoding: 'utf8' }).stdout,
    );
  const ratios = Array.from({ length: 5 }, () => cpu(200) / cpu(1)).sort((a, b) => a - b);
  assert.ok(ratios[2] < 0.8, `by 200 % it ran for ${ratios[2]} of the time`);
});
