/** A run whose disk fills up still shows its measurements, says that the disk is full, and is no pass. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ON_ANY_MACHINE } from '../support/bench.js';
import { K6, ROOT, cleanEnvironment, start } from '../support/k6.js';

/** A separate disk in place of results/, invisible to other processes. */
const MOUNT = 'mount -t tmpfs -o "size=$0" windtunnel "$1" && shift && exec "$@"';
const results = join(ROOT, 'results');
mkdirSync(results, { recursive: true });
const able = spawnSync('unshare', ['-m', 'sh', '-c', MOUNT, '16k', results, 'true']).status === 0;

for (const [only, runners, size] of [
  ['pulsar/ingest', '1', '8k'],
  ['pulsar/ingest', '1', '16k'],
  // The disk holds no record; then the records without the result; then every file except the report.
  ['pulsar/concurrent', '2', '8k'],
  ['pulsar/concurrent', '2', '24k'],
  ['pulsar/concurrent', '2', '40k'],
]) {
  test(
    `full disk of ${size}, ${runners} runner(s)`,
    { skip: !able && 'this user may not mount' },
    async () => {
      const bench = [K6, 'x', 'bench', '--run-id', 'full-disk', '--only', only, '--runners', runners];
      const run = start('unshare', ['-m', 'sh', '-c', MOUNT, size, results, ...bench], {
        env: { ...cleanEnvironment(), ...ON_ANY_MACHINE },
      });
      assert.equal(await run.ended, 4, run.output.stdout);
      const { stdout, stderr } = run.output;
      assert.match(stdout, new RegExp(`^SCENARIO +OPERATION .*\n${only} `, 'm'));
      assert.match(stdout, /^verdict: set-up failed$/m);
      assert.match(stdout + stderr, /no space left on device/);
    },
  );
}
