/** Others on the CPUs that are measured, and limits of the generator, are told, and blamed on no system. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { K6, ROOT, cleanEnvironment, start } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';

/** The one CPU of placement shared, and the share of it that others and the hypervisor took, in percent. @param {any} result */
function taken(result) {
  const { detail } = result.validity.find((/** @type {any} */ { check }) => check === 'neighbours');
  const told = /^CPU (\d+): ([\d.]+) % used by others, ([\d.]+) %/.exec(detail) ?? [];
  return { cpu: Number(told[1]), percent: Number(told[2]) + Number(told[3]) };
}

async function measured() {
  const bench = startBench({
    ONLY: 'dataplane/socks-tcp',
    TESTBED: 'sing-box',
    ROUND_TRIPS: '8000',
    PROFILE: 'quick',
  });
  try {
    const code = await bench.ended;
    return { code, result: bench.result('dataplane-socks-tcp') };
  } finally {
    bench.remove();
  }
}

test('a busy loop on the CPU of placement shared makes the run inconclusive', async () => {
  const alone = taken((await measured()).result);
  // Longer than a measurement takes on a slow machine.
  const loop = ['-c', String(alone.cpu), 'timeout', '300', 'sh', '-c', 'while :; do :; done'];
  const neighbour = spawn('taskset', loop, { detached: true, stdio: 'ignore' });
  try {
    const beside = await measured();
    assert.equal(beside.result.verdict, 'inconclusive');
    assert.equal(beside.code, 3);
    assert.match(reasonsOf(beside.result).join('\n'), new RegExp(`neighbours: CPU ${alone.cpu}: `));
    const { percent } = taken(beside.result);
    assert.ok(percent > 10, `${percent} %`);
    assert.ok(beside.result.disturbed.length > 0, 'the seconds are told');
    assert.ok(beside.result.disturbed.every((/** @type {any} */ { cpu }) => cpu === alone.cpu));
    // Where others take much already, one more tells nothing.
    if (alone.percent <= 10) assert.ok(percent > alone.percent, `${alone.percent} % without it`);
  } finally {
    process.kill(-Number(neighbour.pid), 'SIGKILL');
  }
});

test('more tunnels than files may be open are refused with one line before the load', async () => {
  const id = `test-files-${process.pid}`;
  const run = start('bash', ['-c', 'ulimit -n 1024 && exec "$0" x bench --run-id "$1"', K6, id], {
    env: {
      ...cleanEnvironment(),
      BESIDE: '1',
      ONLY: 'dataplane/concurrency',
      TESTBED: 'sing-box',
      PROFILE: 'quick',
    },
  });
  try {
    assert.equal(await run.ended, 4);
    const lines = errorLines({ stdout: run.output.stdout, stderr: '' });
    assert.equal(lines.length, 1, run.output.stdout);
    assert.match(
      lines[0],
      /1000 connections at once take 2064 open files, and the limit is 1024: raise it \(ulimit -n 2064/,
    );
  } finally {
    rmSync(join(ROOT, 'results', id), { recursive: true, force: true });
  }
});
