/** A checkout may lie in a folder of any name: the unit tests and a bench run in one with letters that URLs, patterns and shells read otherwise. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ON_ANY_MACHINE } from '../support/bench.js';
import { copyCheckout } from '../support/checkout.js';
import { ROOT, cleanEnvironment, start, temporaryFolder } from '../support/k6.js';

const NAME = "päth with späces/#'%41|[x]$y?";
const folder = temporaryFolder('odd-path');
after(folder.remove);
const checkout = join(folder.path, NAME);

copyCheckout(checkout);

/** @param {string} command @param {string[]} args @param {Record<string, string>} [variables] */
async function runs(command, args, variables = {}) {
  const run = start(command, args, { cwd: checkout, env: { ...cleanEnvironment(), ...variables } });
  const code = await run.ended;
  assert.equal(code, 0, `${run.output.stdout}\n${run.output.stderr}`);
  return run.output.stdout;
}

test('odd path: the files of the checkout are valid', async () => {
  assert.match(await runs('bin/k6', ['x', 'validate']), /^\d\d files valid\n$/);
});

/** Unit tests that start a program, or read or write a file. */
const OF_PATHS = /node:child_process|node:fs|import\.meta\.url|startBench|runScenario/;
/** These tests take half of all time, and use no other paths than the rest: a hundred `k6 inspect`, tsc, thousands of cases, a busy CPU. */
const LONG = ['variables', 'boards', 'comparison-laws', 'publish', 'others', 'compare-a-a'].map(
  (name) => `${name}.test.js`,
);

test('odd path: the unit tests that have to do with paths pass', async () => {
  const names = readdirSync(join(ROOT, 'tests/unit')).filter(
    (name) => !LONG.includes(name) && OF_PATHS.test(readFileSync(join(ROOT, 'tests/unit', name), 'utf8')),
  );
  assert.ok(names.length > 5, names.join(', '));
  const tests = names.map((name) => `tests/unit/${name}`);
  await runs(process.execPath, ['--import', './tests/fakes/register.js', '--test', ...tests]);
});

for (const [target, scenario] of [
  ['pulsar-ingest', 'pulsar/ingest'],
  ['dataplane-socks-tcp', 'dataplane/socks-tcp'],
]) {
  test(`odd path: make ${target} ends with a result and a report`, async () => {
    const env = { ...cleanEnvironment(), ...ON_ANY_MACHINE, RUN_ID: target };
    const run = start('make', [target], { cwd: checkout, env });
    await run.ended;
    const { stdout, stderr } = run.output;
    const [{ outcome }] = JSON.parse(
      readFileSync(join(checkout, 'results', target, 'run.json'), 'utf8'),
    ).scenarios;
    // A busy machine is no fault here.
    assert.match(outcome, /^(pass|inconclusive)$/, `${stdout}\n${stderr}`);
    assert.match(readFileSync(join(checkout, 'results/latest/report.md'), 'utf8'), new RegExp(scenario));
  });
}
