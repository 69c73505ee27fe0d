/**
 * How often is a gate's verdict wrong?
 *
 * `make benchmark-gate` runs it. It makes RUNS gates of a small proxy against itself, and RUNS against a head that needs SLOWER percent
 * more CPU per byte, in turn. Each gate is the script of the workflows (ci/gate). It counts the verdicts. SCENARIO, PROFILE, MINUTES
 * and WORSE_BY are passed on. It writes gates.json and gates.md into results/RUN_ID after each gate.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ROOT, resultsOf, whole } from '../asked.js';

const SOURCE = readFileSync(join(ROOT, 'tests/fixtures/small-proxy/proxy.py'), 'utf8');
const PRICE = /^PRICE = (\d+)$/m;

const runs = whole('RUNS', 20);
const slower = whole('SLOWER', 15);
const minutes = whole('MINUTES', 10);
const { id, folder } = resultsOf('gates');

/** Writes a proxy that needs more CPU. @param {string} name @param {number} percent more */
function program(name, percent) {
  const path = join(folder, name);
  const price = Number(PRICE.exec(SOURCE)?.[1]);
  // The name makes the bytes differ, as between two commits.
  writeFileSync(path, `${SOURCE.replace(PRICE, `PRICE = ${price} * ${100 + percent} // 100`)}\n# ${name}\n`);
  chmodSync(path, 0o755);
  return path;
}

const base = program('base', 0);
const cases = [
  { name: 'equal', head: program('equal', 0), wrong: 'fail' },
  { name: `${slower} % more CPU for each byte`, head: program('dearer', slower), wrong: 'pass' },
].map((of) => ({ ...of, made: /** @type {{ verdict: string, seconds: number }[]} */ ([]) }));

/** @param {string} head @param {string} name */
function gate(head, name) {
  const out = join(folder, name);
  const begun = Date.now();
  const { status } = spawnSync(join(ROOT, 'ci/gate'), ['run'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      GITHUB_RUN_ID: `${id}-${name}`.toLowerCase(),
      GATE_OUT: out,
      GATE_BASE: base,
      GATE_HEAD: head,
      GATE_TESTBED: 'own-proxy',
      GATE_SCENARIO: process.env.SCENARIO || 'dataplane/socks-tcp',
      GATE_PROFILE: process.env.PROFILE || 'quick',
      GATE_MINUTES: String(minutes),
      GATE_WORSE_BY: process.env.WORSE_BY || '10',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const verdict = join(out, 'verdict');
  if (status !== 0 || !existsSync(verdict)) return null;
  const found = /^verdict=(.*)$/m.exec(readFileSync(verdict, 'utf8'))?.[1] ?? '';
  return { verdict: found, seconds: (Date.now() - begun) / 1000 };
}

/** Writes and returns the counts so far. */
function write() {
  const count = (/** @type {typeof cases[0]} */ { made }, /** @type {string} */ verdict) =>
    made.filter((one) => one.verdict === verdict).length;
  const row = (/** @type {typeof cases[0]} */ one) => {
    const seconds = one.made.map((of) => of.seconds).sort((a, b) => a - b);
    const [median, most] = [seconds[Math.floor(seconds.length / 2)] ?? 0, seconds.at(-1) ?? 0];
    const verdicts = ['pass', 'fail', 'inconclusive', 'set-up failed'].map((verdict) => count(one, verdict));
    return `| ${[one.name, one.made.length, ...verdicts, count(one, one.wrong), median.toFixed(0), most.toFixed(0)].join(' | ')} |`;
  };
  const head =
    '| Head | Gates | pass | fail | inconclusive | set-up failed | wrong | median s | most s |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|';
  const text = `${head}\n${cases.map(row).join('\n')}\n`;
  writeFileSync(join(folder, 'gates.json'), `${JSON.stringify(cases, null, 2)}\n`);
  writeFileSync(join(folder, 'gates.md'), text);
  return text;
}

let interrupted = false;
process.on('SIGINT', () => (interrupted = true));
for (let number = 1; number <= runs && !interrupted; number += 1) {
  for (const [i, one] of cases.entries()) {
    const outcome = gate(one.head, `${number}-${i === 0 ? 'equal' : 'dearer'}`);
    // Gives the interrupt handler a chance to run.
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (interrupted) break;
    if (outcome === null) {
      console.error('the gate did not run: see above');
      process.exit(4);
    }
    one.made.push(outcome);
    console.log(`${number} of ${runs}, ${one.name}: ${outcome.verdict}, ${outcome.seconds.toFixed(0)} s`);
    write();
  }
}
console.log(write());
process.exit(interrupted ? 130 : 0);
