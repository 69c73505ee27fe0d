/**
 * Where does the noise of a scenario come from: different starts of the system, different runs on one start, or slow drift? Does a
 * longer run have less noise?
 *
 * `make benchmark-variance` runs it: for each of TIMES (1,4), PAIRS times, it starts the scenario's testbed twice and makes RUNS runs
 * on each start, in turn. SCENARIO and PROFILE are passed on. It writes variance.json and variance.md into results/RUN_ID after
 * each pair.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { startSidecar } from '../../tests/support/sidecar.js';
import { HEAD, partsOf, row } from './parts.js';
import { ROOT, resultsOf, whole } from '../asked.js';

/** @typedef {{ rate: number, p50: number, measured: number, whole: number }} Measured per second, ms, s, s */

const TESTBEDS = /** @type {Record<string, string>} */ ({
  dataplane: 'sing-box-pair',
  panel: 'panel',
  pulsar: 'pulsar-relay',
});
const pairs = whole('PAIRS', 6, { least: 2 });
const runs = whole('RUNS', 5, { least: 2 });
const { id, folder } = resultsOf('variance');
const sizes = (process.env.TIMES || '1,4').split(',');
if (!sizes.every((times) => /^([1-9]\d?|100)$/.test(times))) {
  console.error(
    `TIMES=${process.env.TIMES}: whole numbers from 1 to 100 with commas between them are wanted`,
  );
  process.exit(2);
}
const scenario = process.env.SCENARIO || 'dataplane/socks-tcp';
const [system, name] = scenario.split('/');
const testbed = TESTBEDS[system];
if (!testbed || !name) {
  console.error(
    `SCENARIO=${scenario}: SYSTEM/NAME of ${Object.keys(TESTBEDS).join(', ')} is wanted, such as pulsar/ingest`,
  );
  process.exit(2);
}
// The data plane runs on one CPU, as with the placement `shared`.
const cpu = String(availableParallelism() - 1);
const pinned = system === 'dataplane';
const placement = pinned ? { PLACEMENT: 'shared', PROBE_CPUS: cpu, ECHO_CPUS: cpu, SYSTEM_CPUS: cpu } : {};
const sidecar = await startSidecar(join(folder, 'logs'));

/**
 * Starts the testbed twice at once, and runs on both in turn, A B B A.
 * @param {string} times @param {number} pair
 * @returns {Promise<{ a: Measured[], b: Measured[] }>}
 */
async function measureTwo(times, pair) {
  const variables = pinned ? { cpus: cpu } : {};
  const instances = [await sidecar.start(testbed, variables), await sidecar.start(testbed, variables)];
  /** @type {Measured[][]} */
  const measured = [[], []];
  for (let run = 1; run <= runs; run += 1) {
    for (const side of run % 2 === 0 ? [1, 0] : [0, 1])
      measured[side].push(
        await measure(instances[side], times, `times-${times}-pair-${pair}-${'ab'[side]}-${run}`),
      );
  }
  for (const { id: instance } of instances) await sidecar.ask('DELETE', `/instances/${instance}`);
  return { a: measured[0], b: measured[1] };
}

/** @param {any} instance @param {string} times @param {string} run @returns {Promise<Measured>} */
async function measure(instance, times, run) {
  const out = join(folder, run);
  mkdirSync(out);
  const testbedVariables = {
    ...sidecar.variables,
    ...instance.outputs,
    ...instance.secret_outputs,
    ...placement,
  };
  const runVariables = { RESULT_DIR: out, RUN_ID: `${id}-${run}`, TIMES: times, INSTANCE: instance.id };
  const begun = performance.now();
  const child = spawn('bin/k6', ['run', '--quiet', `scripts/${system}/${name}.js`], {
    cwd: ROOT,
    env: { ...process.env, ...testbedVariables, ...runVariables, K6_NO_USAGE_REPORT: 'true' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'close');
  const took = (performance.now() - begun) / 1000;
  const { operations, verdict } = JSON.parse(readFileSync(join(out, `${system}-${name}.json`), 'utf8'));
  if (verdict === 'fail') throw new Error(`${out}: the run failed`);
  const [{ rate_per_s: rate, latency_ms: latency, window_s: window }] = operations;
  return { rate, p50: latency.p50, measured: window, whole: took };
}

/** @param {Record<string, { a: Measured[], b: Measured[] }[]>} all by size, then by pair of starts */
function write(all) {
  const rows = Object.entries(all)
    .filter(([, found]) => found.length > 1)
    .flatMap(([times, found]) => {
      const each = found.flatMap(({ a, b }) => [...a, ...b]);
      const mean = (/** @type {'measured' | 'whole'} */ key) =>
        each.reduce((sum, run) => sum + run[key], 0) / each.length;
      const seconds = { measured: mean('measured'), whole: mean('whole') };
      return /** @type {const} */ (['rate', 'p50']).map((metric) => {
        const of = (/** @type {Measured[]} */ side) => side.map((run) => run[metric]);
        const parts = partsOf(found.map(({ a, b }) => ({ a: of(a), b: of(b) })));
        return row(Number(times), metric === 'rate' ? 'rate' : 'P50', parts, seconds);
      });
    });
  const text = `# ${scenario}, ${process.env.PROFILE || 'smoke'}: ${pairs} pairs of starts, ${runs} runs on each\n\n${HEAD}\n${rows.join('\n')}\n`;
  writeFileSync(join(folder, 'variance.json'), `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(folder, 'variance.md'), text);
  return text;
}

/** @type {Record<string, { a: Measured[], b: Measured[] }[]>} */
const all = Object.fromEntries(sizes.map((times) => [times, []]));
let text = '';
// The sizes alternate, so that slow phases of the machine affect all of them.
for (let pair = 1; pair <= pairs; pair += 1) {
  for (const times of sizes) {
    all[times].push(await measureTwo(times, pair));
    text = write(all);
  }
}
await sidecar.stop();
console.log(text);
