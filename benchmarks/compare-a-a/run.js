/**
 * How often is `k6 x compare` right if the true difference is known?
 *
 * `make benchmark-compare` runs it. It makes RUNS comparisons of a system with itself, and RUNS with a copy that is slower by
 * SLOWER percent (slowed.py), in turn. It counts the verdicts. CASES may select one kind: equal, slower or both. SCENARIO, PROFILE and
 * MINUTES (of each comparison) are passed on. It writes a-a.json and a-a.md into results/RUN_ID after each comparison, so that
 * an early end loses nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ROOT, resultsOf, whole } from '../asked.js';
import { HEAD, count, madeOf, row } from './count.js';

const INTERRUPTED = 130;

const runs = whole('RUNS', 20);
const slower = whole('SLOWER', 15);
const minutes = whole('MINUTES', 10);
const { id, folder } = resultsOf('compare-a-a');
const scenario = process.env.SCENARIO || 'dataplane/socks-tcp';

/** Testbed of each system, and the variable for another program in place of the given one. */
const SYSTEMS = /** @type {Record<string, { testbed: string, variable: string, program: string }>} */ ({
  dataplane: { testbed: 'sing-box-pair', variable: 'binary', program: 'bin/sing-box' },
  panel: { testbed: 'panel', variable: 'python', program: '.venv/panel/bin/python' },
  pulsar: { testbed: 'pulsar-relay', variable: 'python', program: '.venv/pulsar-relay/bin/python' },
});
const system = SYSTEMS[scenario.split(/[/-]/)[0]];
if (!system) {
  console.error(
    `SCENARIO=${scenario}: one of ${Object.keys(SYSTEMS).join(', ')} is wanted, such as ingest of pulsar`,
  );
  process.exit(2);
}

const program = join(folder, 'slowed');
const listed = join(folder, 'slowed.pids');
mkdirSync(listed);
const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", `'\\''`)}'`;
writeFileSync(
  program,
  `#!/bin/sh\n: > ${quoted(listed)}/$$\nexec ${quoted(join(ROOT, system.program))} "$@"\n`,
);
chmodSync(program, 0o755);
const slowing = spawn('python3', [join(import.meta.dirname, 'slowed.py'), String(slower), listed], {
  // Ctrl-C must not reach slowed.py, because it must resume the stopped programs.
  detached: true,
  stdio: ['pipe', 'inherit', 'inherit'],
});

/** @type {Record<string, { b: string, made: import('./count.js').Made[] }>} */
const cases = {
  equal: { b: system.testbed, made: [] },
  [`slower by ${slower} %`]: { b: `${system.testbed}:${system.variable}=${program}`, made: [] },
};
const wanted = process.env.CASES || 'both';
if (!['equal', 'slower', 'both'].includes(wanted)) {
  console.error(`CASES=${wanted}: equal, slower or both is wanted`);
  process.exit(2);
}
for (const name of Object.keys(cases)) if (wanted !== 'both' && !name.startsWith(wanted)) delete cases[name];
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !['RUNS', 'SLOWER', 'MINUTES', 'SCENARIO', 'CASES', 'RUN_ID'].includes(name),
  ),
);

/** @param {string} run @param {string} b */
async function compare(run, b) {
  const sides = ['--a', system.testbed, '--b', b, '--same', '--minutes', String(minutes)];
  const command = ['x', 'compare', '--scenario', scenario, ...sides, '--run-id', run];
  const begun = Date.now();
  const child = spawn('bin/k6', command, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  const path = join(ROOT, 'results', run, 'compare.json');
  if (code === INTERRUPTED || !existsSync(path)) return null;
  return madeOf(JSON.parse(readFileSync(path, 'utf8')), (Date.now() - begun) / 1000);
}

/** Writes and returns the counts so far; "" before the first comparison. */
function write() {
  const counted = Object.entries(cases).filter(([, { made }]) => made.length > 0);
  if (counted.length === 0) return '';
  const rows = counted.map(([name, { made }]) => row(name, count(made)));
  const text = `# ${scenario}, ${process.env.PROFILE || 'smoke'}: comparisons of which the truth is known\n\n${HEAD}\n${rows.join('\n')}\n`;
  writeFileSync(join(folder, 'a-a.json'), `${JSON.stringify(Object.fromEntries(counted), null, 2)}\n`);
  writeFileSync(join(folder, 'a-a.md'), text);
  return text;
}

let interrupted = false;
// Ctrl-C also reaches the comparison, which cleans up. The earlier counts are still printed.
process.on('SIGINT', () => (interrupted = true));
for (let number = 1; number <= runs && !interrupted; number += 1) {
  for (const [name, { b, made }] of Object.entries(cases)) {
    if (interrupted) break;
    const one = await compare(`${id}-${name.replaceAll(/\W+/g, '-').replace(/-$/, '')}-${number}`, b);
    if (one === null) {
      interrupted = true;
      break;
    }
    made.push(one);
    write();
    const changes = one.primary.map(({ title, change }) => `${title} ${change?.toFixed(1)} %`).join(', ');
    console.log(
      `${number} of ${runs}, ${name}: ${one.verdict}, ${one.pairs} pairs, ${one.seconds.toFixed(0)} s; ${changes}`,
    );
  }
}
slowing.stdin.end();
const text = write();
if (text === '') process.exit(4);
console.log(text);
process.exit(interrupted ? INTERRUPTED : 0);
