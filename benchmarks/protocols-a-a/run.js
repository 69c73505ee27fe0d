/**
 * Does the comparison of protocols find a difference between sing-box and itself?
 *
 * `make benchmark-protocols` runs it: the matrix RUNS times with our own sing-box also as the candidate. It counts the missed targets.
 * After MINUTES it begins no further run, and it stops and does not count the current one. PROTOCOL, PROFILE, TURNS and TUNNELS are
 * passed on. It writes a-a.json and a-a.md into results/RUN_ID.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ROOT, resultsOf, whole } from '../asked.js';
import { count, runOf } from './count.js';
import { table } from './table.js';

/** Variables of the caller that would change the comparison. */
const OTHERS = ['RUNS', 'MINUTES', 'ONLY', 'BASELINE', 'RUN_ID'];
const MISSED = 99;
/** Exit codes of a run without measurements (bad usage, failed set-up). The run prints the reason. */
const REFUSED = [2, 4];

const runs = whole('RUNS', 5, { most: 100_000 });
const end = Date.now() + whole('MINUTES', 60, { most: 100_000 }) * 60_000;
const { id, folder } = resultsOf('protocols-a-a');
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OTHERS.includes(name)));
env.CANDIDATE = 'sing-box';

let interrupted = false;
/** @type {import('node:child_process').ChildProcess | undefined} */
let child;
// Ctrl-C also reaches the run, which cleans up. The earlier counts are still printed.
process.on('SIGINT', () => (interrupted = true));
for (const signal of ['SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interrupted = true;
    child?.kill('SIGINT');
  });
}

/** @param {string} run @returns {Promise<any>} its result; null if it did not end */
async function compare(run) {
  const command = ['x', 'bench', '--only', 'protocols/matrix', '--run-id', run];
  const timeout = Math.max(1, end - Date.now());
  child = spawn('bin/k6', command, {
    cwd: ROOT,
    env,
    timeout,
    killSignal: 'SIGINT',
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (REFUSED.includes(code)) process.exit(code);
  const path = join(ROOT, 'results', run, 'protocols-matrix.json');
  if (!existsSync(path)) return null;
  const result = JSON.parse(readFileSync(path, 'utf8'));
  const cut = result.validity.some(
    (/** @type {any} */ { check, ok }) => check === 'complete' && ok === false,
  );
  return cut ? null : result;
}

const results = [];
while (results.length < runs && Date.now() < end && !interrupted) {
  const name = `${id}-${results.length + 1}`;
  console.log(`run ${results.length + 1} of ${runs}: results/${name}`);
  const result = await compare(name);
  if (result === null) break;
  results.push(result);
}
if (results.length === 0) {
  console.error('no run has ended: there is nothing to count; give more MINUTES, or fewer rows by PROTOCOL');
  process.exit(4);
}
const counted = count(results.map(runOf));
const outcomes = results.map(({ run, verdict, reasons }) => ({ id: run.id, verdict, reasons }));
const all = { asked: runs, runs: outcomes, first: results[0].run, count: counted };
writeFileSync(join(folder, 'a-a.json'), `${JSON.stringify(all, null, 2)}\n`);
const [{ run: first, sections }] = results;
const { title } = sections.find((/** @type {any} */ { name }) => name === 'baseline');
const text = table(counted, { title: title.replace('Baseline: ', ''), turns: first.parameters.turns });
writeFileSync(join(folder, 'a-a.md'), text);
console.log(text);
process.exit(counted.missing > 0 ? MISSED : 0);
