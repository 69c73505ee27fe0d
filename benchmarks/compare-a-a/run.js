/**
 * What does `k6 x compare` answer in earnest, where the truth is known?
 *
 * Run by `make benchmark-compare`: RUNS comparisons of sing-box with itself, and as many with a sing-box that is slower by
 * SLOWER per cent (slowed.py), in turn, and the verdicts counted. SCENARIO, PROFILE and MINUTES (of each comparison) are
 * the comparison's own. Writes a-a.json and a-a.md into results/RUN_ID.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { HEAD, count, madeOf, row } from './count.js';

const ROOT = join(import.meta.dirname, '../..');
const INTERRUPTED = 130;

/** @param {string} variable @param {number} fallback */
function whole(variable, fallback) {
  const given = Number(process.env[variable] || fallback);
  if (Number.isInteger(given) && given > 0 && given <= 100) return given;
  console.error(`${variable}=${process.env[variable]}: a whole number from 1 to 100 is wanted`);
  return process.exit(2);
}

const runs = whole('RUNS', 20);
const slower = whole('SLOWER', 15);
const minutes = whole('MINUTES', 10);
const scenario = process.env.SCENARIO || 'dataplane/socks-tcp';
const id = process.env.RUN_ID || `compare-a-a-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
const folder = join(ROOT, 'results', id);
mkdirSync(folder, { recursive: true });

const program = join(folder, 'slowed');
const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", `'\\''`)}'`;
const helper = quoted(join(import.meta.dirname, 'slowed.py'));
writeFileSync(
  program,
  `#!/bin/sh\nexec python3 ${helper} ${slower} ${quoted(join(ROOT, 'bin/sing-box'))} "$@"\n`,
);
chmodSync(program, 0o755);

/** @type {Record<string, { b: string, made: import('./count.js').Made[] }>} */
const cases = {
  equal: { b: 'sing-box-pair', made: [] },
  [`slower by ${slower} %`]: { b: `sing-box-pair:binary=${program}`, made: [] },
};
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !['RUNS', 'SLOWER', 'MINUTES', 'SCENARIO', 'RUN_ID'].includes(name),
  ),
);

/** @param {string} run @param {string} b */
async function compare(run, b) {
  const sides = ['--a', 'sing-box-pair', '--b', b, '--minutes', String(minutes)];
  const command = ['x', 'compare', '--scenario', scenario, ...sides, '--run-id', run];
  const begun = Date.now();
  const child = spawn('bin/k6', command, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  const path = join(ROOT, 'results', run, 'compare.json');
  if (code === INTERRUPTED || !existsSync(path)) return null;
  return madeOf(JSON.parse(readFileSync(path, 'utf8')), (Date.now() - begun) / 1000);
}

let interrupted = false;
// Ctrl-C reaches the comparison, too, which cleans up; what was counted before is still told.
process.on('SIGINT', () => (interrupted = true));
for (let number = 1; number <= runs && !interrupted; number += 1) {
  for (const [name, { b, made }] of Object.entries(cases)) {
    const one = interrupted
      ? null
      : await compare(`${id}-${name.replaceAll(/\W+/g, '-').replace(/-$/, '')}-${number}`, b);
    if (one === null) interrupted = true;
    else made.push(one);
    if (one)
      console.log(
        `${number} of ${runs}, ${name}: ${one.verdict}, ${one.pairs} pairs, ${one.seconds.toFixed(0)} s`,
      );
  }
}
const counted = Object.entries(cases).filter(([, { made }]) => made.length > 0);
if (counted.length === 0) process.exit(4);
const rows = counted.map(([name, { made }]) => row(name, count(made)));
const text = `# ${scenario}, ${process.env.PROFILE || 'smoke'}: comparisons of which the truth is known\n\n${HEAD}\n${rows.join('\n')}\n`;
writeFileSync(join(folder, 'a-a.json'), `${JSON.stringify(Object.fromEntries(counted), null, 2)}\n`);
writeFileSync(join(folder, 'a-a.md'), text);
console.log(text);
process.exit(interrupted ? INTERRUPTED : 0);
