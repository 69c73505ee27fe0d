import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { count, madeOf, row } from '../../benchmarks/compare-a-a/count.js';
import { temporaryFolder } from '../support/k6.js';

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
    changes: [{ title: 'TCP throughput', change: -13 }],
  });
  assert.equal(
    row('equal', counted),
    '| equal | TCP throughput −13.0 % | 4 | 2 | 1 | 1 | 15 | 35 s | 100 s |',
  );
});

test('what is slowed stands still for its share of the time, and goes on', async () => {
  const { path: folder, remove } = temporaryFolder('slowed');
  // Of one second of a busy loop: how much of it it had the CPU.
  const loop =
    'import os,sys,time\nopen(sys.argv[1]+"/"+str(os.getpid()),"w")\nend=time.monotonic()+1\nwhile time.monotonic()<end: pass\nprint(time.process_time())';
  const cpu = async (percent) => {
    const slowing = spawn('python3', [SLOWED, String(percent), folder], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    const child = spawn('python3', ['-c', loop, folder]);
    let said = '';
    child.stdout.on('data', (data) => (said += data));
    await once(child, 'close');
    slowing.stdin.end();
    const [code] = await once(slowing, 'close');
    assert.equal(code, 0);
    return Number(said);
  };
  const ratios = [];
  for (let round = 0; round < 5; round += 1) ratios.push((await cpu(200)) / (await cpu(1)));
  remove();
  const [, , median] = ratios.sort((a, b) => a - b);
  assert.ok(median < 0.8, `by 200 % it ran for ${median} of the time`);
});
