/** A result reports other processes on the measured CPUs, and limits of the generator. It blames no system for them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { K6, ROOT, cleanEnvironment, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { until } from '../support/processes.js';
import { reasonsOf } from '../support/reasons.js';
import { startSidecar } from '../support/sidecar.js';
import { timely, undisturbed } from '../support/timely.js';

/** The share of the one CPU of placement shared that others and the hypervisor took, in percent. @param {any} result */
function taken(result) {
  const { detail } = result.validity.find((/** @type {any} */ { check }) => check === 'neighbours');
  const told = /^CPU \d+: ([\d.]+) % used by others, ([\d.]+) %/.exec(detail) ?? [];
  return { percent: Number(told[1]) + Number(told[2]) };
}

/** @param {Record<string, string>} variables @param {() => void} [begun] called once k6 is about to measure */
async function measured(variables, begun) {
  const bench = startBench({ PROFILE: 'quick', ...variables });
  const name = variables.ONLY.replace('/', '-');
  try {
    if (begun) await until(() => bench.has(`logs/${name}.k6.log`), 'k6').then(begun);
    const code = await bench.ended;
    const [{ disturbed: before = [] }] = bench.result('run').scenarios;
    return { code, result: bench.result(name), before, output: bench.output.stdout };
  } finally {
    bench.remove();
  }
}

const ROUND_TRIPS = { ONLY: 'dataplane/socks-tcp', TESTBED: 'sing-box', ROUND_TRIPS: '8000' };

/** A neighbour on a CPU, for some seconds at most. @param {number} cpu @param {number} seconds @param {string} script */
function neighbour(cpu, seconds, script) {
  const burn = ['-c', String(cpu), 'timeout', String(seconds), 'bash', '-c', script];
  const { pid } = spawn('taskset', burn, { detached: true, stdio: 'ignore' });
  return {
    leave() {
      try {
        process.kill(-Number(pid), 'SIGKILL');
      } catch (error) {
        assert.equal(/** @type {any} */ (error).code, 'ESRCH', 'it has left already');
      }
    },
  };
}

/** The shared CPU of the placement, among the CPUs that this process may use. */
const LAST = Number(/^Cpus_allowed_list:.*?(\d+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

test('a busy loop on the CPU of placement shared makes the run inconclusive', async () => {
  // Longer than a measurement takes on a slow machine.
  const { leave } = neighbour(LAST, 300, 'while :; do :; done');
  try {
    const beside = await measured(ROUND_TRIPS);
    assert.equal(beside.result.verdict, 'inconclusive');
    assert.equal(beside.code, 3);
    assert.match(reasonsOf(beside.result).join('\n'), new RegExp(`neighbours: CPU ${LAST}: `));
    const { percent } = taken(beside.result);
    assert.ok(percent > 10, `${percent} %`);
    assert.ok(beside.result.disturbed.length > 0, 'the seconds are told');
    assert.ok(beside.result.disturbed.every((/** @type {any} */ { cpu }) => cpu === LAST));
  } finally {
    leave();
  }
});

/** The neighbour starts with the load. It pauses long enough for one measurement before it starts again. */
const THIRD = {
  'dataplane/socks-tcp': { TESTBED: 'sing-box', ROUND_TRIPS: '20000' },
  // A run of the relay or of the panel pins no process.
  'pulsar/ingest': { MESSAGES: '5000' },
};
const TEN_OF_THIRTY =
  'for again in {1..4}; do end=$((SECONDS + 10)); while ((SECONDS < end)); do :; done; sleep 20; done';

for (const [only, variables] of Object.entries(THIRD)) {
  test(
    `${only}, beside a neighbour for a third of the time, ends with a verdict and names what was disturbed`,
    undisturbed(async () => {
      let leave = () => {};
      try {
        const { result, before, output } = await measured({ ONLY: only, AGAIN: '2', ...variables }, () => {
          ({ leave } = neighbour(LAST, 120, TEN_OF_THIRTY));
        });
        timely(result.verdict !== 'inconclusive', output);
        if (result.run.placement) namesParts(result, before, output);
        else namesSeconds(result, before);
      } finally {
        leave();
      }
    }),
  );
}

/**
 * If the neighbour stops soon enough, only the part is measured again, else the whole scenario.
 * @param {any} result
 * @param {string[]} before what disturbed the measurements before this one
 * @param {string} output
 */
function namesParts({ repeated, operations }, before, output) {
  assert.ok(repeated.length > 0 || before.length > 0, output);
  for (const { times, disturbed_by: by } of repeated) {
    assert.ok(times >= 1 && times <= 2);
    assert.deepEqual(
      by.map((/** @type {any} */ { cpu }) => cpu),
      [LAST],
    );
    assert.ok(by[0].others_percent + by[0].steal_percent > 10);
  }
  const [{ success }] = operations;
  assert.equal(success, 20_000, 'what was thrown away is in no figure');
}

/**
 * If nothing is pinned, the figures are of all CPUs together. A spoilt scenario was measured again.
 * @param {any} result
 * @param {string[]} before what disturbed the measurements before this one
 */
function namesSeconds({ disturbed }, before) {
  assert.ok(disturbed.length > 0 || before.length > 0, 'the seconds, or the measurement before, are told');
  assert.ok(disturbed.every((/** @type {any} */ { cpu }) => cpu === null));
}

test(
  'a proxy that was up before is not taken for a neighbour',
  undisturbed(async () => {
    const folder = temporaryFolder('neighbours');
    const sidecar = await startSidecar(folder.path);
    try {
      const { outputs } = await sidecar.start('sing-box', { cpus: String(LAST) });
      const entry = { auth: { mode: 'none' }, url: outputs.DATAPLANE_URL };
      const { result, output } = await measured({
        ONLY: 'dataplane/socks-tcp',
        ENV: writeEnvironment(folder.path, entry, 'dataplane'),
        ROUND_TRIPS: '8000',
      });
      assert.equal(result.run.placement.probe_cpus, String(LAST));
      timely(!/neighbours/.test(reasonsOf(result).join('\n')), output);
      timely(result.repeated === undefined, JSON.stringify(result.repeated));
    } finally {
      await sidecar.stop();
      folder.remove();
    }
  }),
);

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
