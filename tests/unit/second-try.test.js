/** A failed test with real processes runs once more (tests/run.js). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('second-try');
after(folder.remove);

/**
 * A test file whose tests fail, each this often.
 * @param {string} name @param {number[]} failures @param {boolean} [suite] of them @param {string} [more] further tests
 */
function plant(name, failures, suite = false, more = '') {
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
  writeFileSync(join(folder.path, `${name}.test.js`), [imports, ...all, more].join('\n'));
  return join(folder.path, name);
}

/** @param {string[]} names of planted files, and flags */
function run(...names) {
  // The runner runs no tests within a test.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'tests', 'run.js'), ...names], {
    encoding: 'utf8',
    env,
  });
  const lines = stdout.trim().split('\n');
  return {
    status,
    closing: lines.at(-1),
    again: lines.filter((line) => /^passed at the second try: /.test(line)),
    failed: lines.filter((line) => /^failed: /.test(line)).sort(),
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

test('a process that stays after its tests is ended, and its file runs again', () => {
  const mark = JSON.stringify(join(folder.path, 'stayed'));
  const stays = `if (!existsSync(${mark})) setInterval(() => {}, 1000); writeFileSync(${mark}, '');`;
  const { status, closing, again } = run('--stays=10', plant('stays', [0], false, stays));
  assert.deepEqual([status, closing, again.length], [0, '1 passed, 0 failed', 1]);
  assert.match(again[0], /stays: to its end: it still ran 10 s after its tests/);
  const always = run('--stays=1', plant('always', [0], false, 'setInterval(() => {}, 1000);'));
  assert.deepEqual([always.status, always.closing], [1, '1 passed, 1 failed']);
});

test('no test runs again if many failed', () => {
  const { status, closing, again } = run(plant('many', [1, 1, 1, 1, 1, 1]));
  assert.deepEqual([status, closing, again], [1, '0 passed, 6 failed', []]);
});

test('the second try hides no test that never ended', () => {
  const kill =
    "test('late', () => setTimeout(() => process.kill(process.pid, 'SIGKILL'), 500).ref() && forever());";
  const forever = 'const forever = () => new Promise(() => {});';
  const files = [
    plant('killed', [1], false, `${forever} ${kill}`),
    plant('left', [0], false, "test('early', () => process.exit(0));"),
    // Another test has the same end of its name, and the failed one is skipped the second time.
    plant('skipped', [1], false, "test('not number 0', () => {});"),
  ];
  const skipping = readFileSync(`${files[2]}.test.js`, 'utf8')
    .replace("test('number 0', () => {", "test('number 0', (t) => {")
    .replace('  writeFileSync(mark', "  if (failed) return t.skip('nobody knows');\n  writeFileSync(mark");
  writeFileSync(`${files[2]}.test.js`, skipping);
  const { status, failed } = run(...files);
  assert.deepEqual(
    failed.map((line) => line.replace(/^failed: .*\//, '')),
    [
      'killed: to its end: it ended before its tests',
      'left: to its end: it ended before its tests',
      'skipped: number 0: the port is taken',
    ],
  );
  assert.equal(status, 1);
});
