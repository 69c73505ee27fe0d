import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { count, madeOf, row } from '../../benchmarks/compare-a-a/count.js';
import { temporaryFolder } from '../support/k6.js';
import { timely, undisturbed } from '../support/timely.js';

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

/**
 * The share of time in which a program is stopped, from the kernel. The program's CPU time would also depend on other programs.
 * @param {string} folder that lists it
 * @param {number} percent
 */
async function stopped(folder, percent) {
  const slowing = spawn('python3', [SLOWED, String(percent), folder], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  writeFileSync(join(folder, String(child.pid)), '');
  const state = () => /\) (\w)/.exec(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))?.[1];
  while (state() !== 'T') await setTimeout(5);
  const seen = [];
  while (seen.length < 400) {
    await setTimeout(5);
    seen.push(state());
  }
  slowing.stdin.end();
  const [code] = await once(slowing, 'close');
  assert.equal(code, 0);
  assert.notEqual(state(), 'T', 'it goes on');
  child.kill('SIGKILL');
  await once(child, 'close');
  return seen.filter((one) => one === 'T').length / seen.length;
}

test(
  'what is slowed stands still for its share of the time, and goes on',
  undisturbed(async () => {
    const { path: folder, remove } = temporaryFolder('slowed');
    try {
      const [much, little] = [await stopped(folder, 200), await stopped(folder, 10)];
      timely(much > 0.55 && much < 0.8, `by 200 % it was stopped for ${much} of the time`);
      timely(little > 0.03 && little < 0.25, `by 10 % it was stopped for ${little} of the time`);
    } finally {
      remove();
    }
  }),
);
