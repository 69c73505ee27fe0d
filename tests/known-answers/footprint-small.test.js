/** Limits of CPU and memory: a proxy that needs 40 MiB, a quota of the system, and a quota that others set for the generator. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { leakyProxy } from '../support/leaky-proxy.js';
import { reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const SIDECAR = path.join(ROOT, 'bin/sidecar');
const folder = temporaryFolder('footprint-small');
after(folder.remove);
const proxy = leakyProxy(folder.fresh());

/** Why this machine or user cannot set limits; false if it can. */
const lacking = (() => {
  try {
    execFileSync(SIDECAR, ['limits', '--', 'cpu:50%,memory:64mib'], { stdio: 'pipe' });
    return false;
  } catch (error) {
    return String(/** @type {any} */ (error).stderr).trim();
  }
})();

/** @param {string} only @param {string} flags of the proxy @param {Record<string, string>} variables */
async function run(only, flags, variables) {
  const bench = startBench({
    ONLY: only,
    PROFILE: 'smoke',
    TESTBED: proxy(flags),
    ...variables,
  });
  try {
    const code = await bench.ended;
    const file = only.replace('/', '-');
    const result = bench.has(`${file}.json`) ? bench.result(file) : null;
    return {
      code,
      result,
      output: bench.output.stdout + bench.output.stderr,
      files: bench.has('') ? bench.files() : [],
    };
  } finally {
    bench.remove();
  }
}

describe('limits', { skip: lacking }, () => {
  test('a proxy that needs 40 MiB is killed at 32 MiB and carries the load at 64 MiB', async () => {
    const { result } = await run('footprint/small', '-needs 40', {
      LEVELS_MIB: '32,64',
      TURNS: '1',
      TRANSFER_MIB: '64',
      LIMITS: 'cpu:5%',
    });
    // The run's limit counts at each level, and the memory of a level does not.
    const { system } = result.limits;
    assert.deepEqual([system.text, system.killed], ['cpu:5%', null]);
    assert.ok(system.periods > 0 && system.throttled_periods > 0, JSON.stringify(system));
    const [small, large] = rowsOf(sectionOf(result, 'small'));
    assert.deepEqual(
      [small.memory_mib, small.carries, large.memory_mib, large.carries],
      [32, 'no', 64, 'yes'],
    );
    assert.ok(small.killed >= 1 && large.killed === 0, JSON.stringify([small, large]));
    assert.equal(sectionOf(result, 'small').headline.value, '64 MiB');
    const less = await run('footprint/small', '-needs 20', { LEVELS_MIB: '64', TURNS: '1' });
    const [{ peak_mib: peak }] = rowsOf(sectionOf(less.result, 'small'));
    const more = large.peak_mib.value - peak.value;
    assert.ok(Math.abs(more - 20) <= 1, `20 MiB more have a peak of ${more} MiB more`);
  });

  test('a proxy that needs more than the largest level fails', async () => {
    const { result } = await run('footprint/small', '-needs 40', { LEVELS_MIB: '32', TURNS: '1' });
    assert.equal(result.verdict, 'fail');
    assert.match(
      reasonsOf(result).join(),
      /memory that carries the load, MiB: at least 33, and the bound is 32/,
    );
  });

  test('a system that is killed for memory fails, and a system within its limits does not', async () => {
    // 100 handshakes can end within one period of the quota, which then counts none.
    const within = await run('dataplane/handshake', '', {
      LIMITS: 'cpu:40%,memory:256mib',
      HANDSHAKES: '3000',
    });
    const { system } = within.result.limits;
    assert.deepEqual([system.text, system.killed], ['cpu:40%,memory:256mib', 0]);
    assert.ok(system.peak_memory_bytes > 2 ** 20 && system.periods > 0, JSON.stringify(system));
    assert.equal(within.result.run.parameters.limits, 'cpu:40%,memory:256mib');
    // Each connection leaves 1 MiB behind.
    const killed = await run('dataplane/handshake', '-bytes 1048576', { LIMITS: 'memory:48mib' });
    const why = killed.result ? reasonsOf(killed.result).join('\n') : killed.output;
    assert.match(why, /killed for memory 1 time/);
    assert.equal(killed.code, 99);
    const logs = killed.files.filter(({ name }) => name === 'proxy.log').map(({ text }) => text);
    assert.match(logs.join(), /\[windtunnel: the system was killed for memory 1 time: the limit is 48mib\]/);
  });

  test('a system that does not even start is an outcome, not a broken run', async () => {
    const { code, output } = await run('dataplane/handshake', '-needs 40', { LIMITS: 'memory:32mib' });
    assert.equal(code, 99, output);
    assert.match(
      output,
      /ended before it was ready \(killed for memory 1 time: the limit is 32mib, signal 9\)/,
    );
  });

  test('wrong limits, and limits of a system that is up already, are one line', async () => {
    const wrong = await run('dataplane/handshake', '', { LIMITS: 'cpu:50' });
    assert.equal(wrong.code, 2);
    assert.match(wrong.output, /limits "cpu:50": cpu:50 is not a whole number of percent/);
  });

  test('nothing is left behind', () => {
    const found = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', 'windtunnel-*']).toString();
    const ended = found.split('\n').filter((group) => {
      const pid = /^windtunnel-(\d+)-/.exec(path.basename(group))?.[1];
      return pid && !existsSync(`/proc/${pid}`);
    });
    assert.deepEqual(ended, []);
  });
});

const CGROUPS = '/sys/fs/cgroup';
const PERIOD_US = 100_000;
const MEMORY = 3 * 2 ** 30;

/**
 * A group that may use 25 % of a CPU, and with version 2 also has a limit of memory.
 * @param {string} name
 * @returns {{ group: string, home: string, two: boolean }} `home` is this process's own group
 */
function makeQuota(name) {
  const groups = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const one = groups.find(([, controllers]) => controllers?.split(',').includes('cpu'));
  const own = one ?? groups.find(([id]) => id === '0') ?? [];
  const top = one ? path.join(CGROUPS, one[1]) : CGROUPS;
  const home = path.join(top, own[2]);
  // Beside this process's own group, as version 2 allows no group with limits in a group that has processes.
  const parent = one || home === `${top}/` ? home : path.dirname(home);
  const group = path.join(parent, name);
  if (!one) writeFileSync(path.join(parent, 'cgroup.subtree_control'), '+cpu +memory');
  mkdirSync(group);
  const limits = one
    ? { 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': PERIOD_US / 4 }
    : { 'cpu.max': `${PERIOD_US / 4} ${PERIOD_US}`, 'memory.max': MEMORY };
  for (const [file, limit] of Object.entries(limits)) writeFileSync(path.join(group, file), String(limit));
  return { group, home, two: !one };
}

describe('a quota that others set', () => {
  test('throttles the generator, so that the run is inconclusive', async (t) => {
    let quota;
    try {
      quota = makeQuota(`quota-of-test-${process.pid}`);
    } catch (error) {
      t.skip(`no group can be made here: ${error}`);
      return;
    }
    const { group, home, two } = quota;
    /** @param {string} into */
    const move = (into) => writeFileSync(path.join(into, 'cgroup.procs'), String(process.pid));
    try {
      // Children inherit the group.
      move(group);
      const running = run('dataplane/throughput', '', { TRANSFER_MIB: '64' });
      move(home);
      const { result } = await running;
      const { generator } = result.limits;
      assert.equal(generator.cpu_percent, 25);
      assert.ok(generator.throttled_periods > 0, JSON.stringify(generator));
      if (two)
        assert.ok(generator.memory_bytes > 0 && generator.memory_bytes <= MEMORY, generator.memory_bytes);
      assert.notEqual(result.verdict, 'pass');
      assert.match(
        reasonsOf(result).join('\n'),
        /generator throttling: k6 and the sidecar have a quota of 25 % of one CPU from outside: throttled in/,
      );
    } finally {
      move(home);
      rmdirSync(group);
    }
  });
});
