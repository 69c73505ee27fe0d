/** A failed test with real processes runs once more (tests/run.js). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('second-try');
after(folder.remove);

/** A test file whose tests fail, each this often. @param {string} name @param {number[]} failures @param {boolean} [suite] of them */
function plant(name, failures, suite = false) {
  const tests = failures.map(
    (most, index) => `
test('number ${index}', () => {
  const mark = ${JSON.stringify(join(folder.path, `${name}-${index}`))};
  const failed = existsSync(mark) ? Number(readFileSync(mark, 'utf8')) : 0;
  writeFileSync(mark, String(failed + 1));
  assert.ok(failed >= ${most}, 'the port is taken');
});`,
  );
  const imports = `import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';`;
  const all = suite ? ["describe('a suite', () => {", ...tests, '});'] : tests;
  writeFileSync(join(folder.path, `${name}.test.js`), [imports, ...all].join('\n'));
  return join(folder.path, name);
}

/** @param {string} name of a planted file */
function run(name) {
  // The runner runs no tests within a test.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'tests', 'run.js'), name], {
    encoding: 'utf8',
    env,
  });
  const lines = stdout.trim().split('\n');
  return {
    status,
    closing: lines.at(-1),
    again: lines.filter((line) => /^passed at the second try: /.test(line)),
  };
}

test('a test that failed once passes at the second try, and is named', () => {
  const { status, closing, again } = run(plant('once', [1, 0]));
  assert.deepEqual([status, closing, again.length], [0, '2 passed, 0 failed', 1]);
  assert.match(again[0], /number 0: the port is taken/);
});

test('one failed test of a suite runs again without the others', () => {
  const { status, closing, again } = run(plant('suite', [0, 1, 0], true));
  assert.deepEqual([status, closing, again.length], [0, '3 passed, 0 failed', 1]);
  assert.match(again[0], /a suite: number 1: the port is taken/);
  const times = [0, 1, 2].map((index) => readFileSync(join(folder.path, `suite-${index}`), 'utf8'));
  assert.deepEqual(times, ['1', '2', '1']);
});

test('a test that fails twice fails', () => {
  const { status, closing, again } = run(plant('twice', [2]));
  assert.deepEqual([status, closing, again], [1, '0 passed, 1 failed', []]);
});

test('no test runs again if many failed', () => {
  const { status, closing, again } = run(plant('many', [1, 1, 1, 1, 1, 1]));
  assert.deepEqual([status, closing, again], [1, '0 passed, 6 failed', []]);
});
