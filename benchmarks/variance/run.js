/**
 * Where does the noise of a scenario come from: from one start of the system to the next, or from run to run on one start?
 * And does a run that measures longer have less of it?
 *
 * Run by `make benchmark-variance`: for each of TIMES (1,4), STARTS starts of the scenario's testbed with RUNS runs on each.
 * SCENARIO and PROFILE are the runs' own. Writes variance.json and variance.md into results/RUN_ID, anew after each start.
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

const ROOT = join(import.meta.dirname, '../..');

/** @param {string} variable @param {number} fallback @param {number} least */
function number(variable, fallback, least) {
  const given = Number(process.env[variable] || fallback);
  if (Number.isInteger(given) && given >= least && given <= 100) return given;
  console.error(`${variable}=${process.env[variable]}: a whole number from ${least} to 100 is wanted`);
  return process.exit(2);
}

/** @typedef {{ rate: number, p50: number, measured: number, whole: number }} Measured a second, ms, seconds, seconds */

const TESTBEDS = /** @type {Record<string, string>} */ ({
  dataplane: 'sing-box-pair',
  panel: 'panel',
  pulsar: 'pulsar-relay',
});
const starts = number('STARTS', 6, 2);
const runs = number('RUNS', 5, 2);
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
const id = process.env.RUN_ID || `variance-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
const folder = join(ROOT, 'results', id);
mkdirSync(folder, { recursive: true });
// Everything of the data plane runs on one CPU, as with the placement `shared`.
const cpu = String(availableParallelism() - 1);
const pinned = system === 'dataplane';
const placement = pinned ? { PLACEMENT: 'shared', PROBE_CPUS: cpu, ECHO_CPUS: cpu, SYSTEM_CPUS: cpu } : {};
const sidecar = await startSidecar(join(folder, 'logs'));

/**
 * The runs on one start of the testbed.
 * @param {string} times @param {number} start
 * @returns {Promise<Measured[]>}
 */
async function measure(times, start) {
  const instance = await sidecar.start(testbed, pinned ? { cpus: cpu } : {});
  const told = { ...sidecar.variables, ...instance.outputs, ...instance.secret_outputs, ...placement };
  const measured = [];
  for (let run = 1; run <= runs; run += 1) {
    const out = join(folder, `times-${times}-start-${start}-run-${run}`);
    mkdirSync(out);
    const own = {
      RESULT_DIR: out,
      RUN_ID: `${id}-${times}-${start}-${run}`,
      TIMES: times,
      INSTANCE: instance.id,
    };
    const begun = performance.now();
    const child = spawn('bin/k6', ['run', '--quiet', `scripts/${system}/${name}.js`], {
      cwd: ROOT,
      env: { ...process.env, ...told, ...own, K6_NO_USAGE_REPORT: 'true' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await once(child, 'close');
    const whole = (performance.now() - begun) / 1000;
    const { operations, verdict } = JSON.parse(readFileSync(join(out, `${system}-${name}.json`), 'utf8'));
    if (verdict === 'fail') throw new Error(`${out}: the run failed`);
    const [{ rate_per_s: rate, latency_ms: latency, window_s: window }] = operations;
    measured.push({ rate, p50: latency.p50, measured: window, whole });
  }
  await sidecar.ask('DELETE', `/instances/${instance.id}`);
  return measured;
}

/** @param {Record<string, Measured[][]>} all of each size, those of each start */
function write(all) {
  const rows = Object.entries(all)
    .filter(([, measured]) => measured.length > 1)
    .flatMap(([times, measured]) => {
      const each = measured.flat();
      const mean = (/** @type {'measured' | 'whole'} */ key) =>
        each.reduce((sum, run) => sum + run[key], 0) / each.length;
      const seconds = { measured: mean('measured'), whole: mean('whole') };
      return /** @type {const} */ (['rate', 'p50']).map((metric) =>
        row(
          Number(times),
          metric === 'rate' ? 'rate' : 'P50',
          partsOf(measured.map((of) => of.map((run) => run[metric]))),
          seconds,
        ),
      );
    });
  const text = `# ${scenario}, ${process.env.PROFILE || 'smoke'}: ${starts} starts of ${runs} runs\n\n${HEAD}\n${rows.join('\n')}\n`;
  writeFileSync(join(folder, 'variance.json'), `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(folder, 'variance.md'), text);
  return text;
}

/** @type {Record<string, Measured[][]>} */
const all = Object.fromEntries(sizes.map((times) => [times, []]));
let text = '';
// The sizes in turn, so that the machine's slow hour meets each.
for (let start = 1; start <= starts; start += 1) {
  for (const times of sizes) {
    all[times].push(await measure(times, start));
    text = write(all);
  }
}
await sidecar.stop();
console.log(text);
