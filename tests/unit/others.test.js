/** tests/support/others.js and patience.js: CPU use of other programs is separated from the test's own, and limits grow with slowness. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { judged, watchOthers } from '../support/others.js';
import { patience, slowness } from '../support/patience.js';
import { killTree, until } from '../support/processes.js';

test('a second in ten of all CPUs is busy, and so is a burst; less is not', () => {
  const seconds = (/** @type {number[]} */ ...used) => used.map((others_s) => ({ seconds: 1, others_s }));
  const of = (/** @type {number[]} */ ...used) => judged(seconds(...used), 2);
  assert.deepEqual(of(0.25, 0, 0, 0), { percent: 3.125, most: 12.5, busy: false });
  assert.deepEqual(of(0.25, 0.25), { percent: 12.5, most: 12.5, busy: true });
  assert.deepEqual(of(0, 0, 0, 0, 0, 0, 0, 1), { percent: 6.25, most: 50, busy: true });
  // Ticks are coarse: a negative value counts as 0, and a part of a second is no burst.
  assert.deepEqual(
    judged(
      [
        { seconds: 10, others_s: -0.2 },
        { seconds: 0.02, others_s: 0.04 },
      ],
      2,
    ).busy,
    false,
  );
});

/** CPU time of a process, s. @param {number} pid */
function usedBy(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

test('what a test burns is no excuse, though its parent has ended; what others burn is', async () => {
  const idle = spawn('sleep', ['60']);
  // The shell in between ends, so the burning process has no parent among the test's processes.
  const burner = spawn('sh', ['-c', 'sh -c "while :; do :; done" & echo $!; sleep 1.2'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const pid = await new Promise((resolve) => burner.stdout?.once('data', (data) => resolve(Number(data))));
  try {
    const began = performance.now();
    const [own, ofIdle] = [watchOthers(process.pid), watchOthers(Number(idle.pid))];
    const before = usedBy(pid);
    await sleep(2500);
    assert.equal(burner.exitCode, 0, 'the shell in between has ended');
    // On a busy machine it gets little, and ticks are coarse.
    await until(() => usedBy(pid) - before > 0.5, 'CPU time of what burns');
    const burnt = usedBy(pid) - before;
    const all = (availableParallelism() * (performance.now() - began)) / 1000;
    const difference = ((ofIdle().percent - own().percent) / 100) * all;
    // This process uses some CPU time too.
    assert.ok(difference > 0.8 * burnt, `${difference} s of ${burnt} s that were burnt`);
  } finally {
    killTree(pid);
    idle.kill();
  }
});

test('a limit grows as the machine becomes slower, when it expires, and no more than tenfold', () => {
  let [at, slow] = [0, 1];
  const waits = patience(1000, { now: () => at, measure: () => slow });
  assert.ok(waits());
  [at, slow] = [25_000, 3];
  assert.ok(!waits(), 'three times as slow is no reason to wait for 25 times as long');
  const again = patience(1000, { now: () => at, measure: () => slow });
  [at, slow] = [25_000 + 8000, 9];
  assert.ok(again());
  at = 25_000 + 9001;
  assert.ok(!again());
  assert.ok(slowness() >= 1 && slowness() <= 10);
});
