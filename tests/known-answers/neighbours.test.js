/** Others on the CPUs that are measured, and limits of the generator, are told, and blamed on no system. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { K6, ROOT, cleanEnvironment, start } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';

const LAST = availableParallelism() - 1;

/** The share of the last CPU that others and the hypervisor took, in percent. @param {any} result */
function taken(result) {
  const { detail } = result.validity.find((/** @type {any} */ { check }) => check === 'neighbours');
  const told = new RegExp(`CPU ${LAST}: ([\\d.]+) % used by others, ([\\d.]+) %`).exec(detail) ?? [];
  return Number(told[1]) + Number(told[2]);
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
  const alone = await measured();
  const loop = ['-c', String(LAST), 'timeout', '60', 'sh', '-c', 'while :; do :; done'];
  const neighbour = spawn('taskset', loop, { detached: true, stdio: 'ignore' });
  try {
    const beside = await measured();
    assert.equal(beside.result.verdict, 'inconclusive');
    assert.equal(beside.code, 3);
    assert.match(reasonsOf(beside.result).join('\n'), new RegExp(`neighbours: CPU ${LAST}: `));
    assert.ok(taken(beside.result) > 10, `${taken(beside.result)} %`);
    assert.ok(beside.result.disturbed.length > 0, 'the seconds are told');
    assert.ok(beside.result.disturbed.every((/** @type {any} */ { cpu }) => cpu === LAST));
    assert.ok(taken(beside.result) > taken(alone.result), `${taken(alone.result)} % without it`);
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
