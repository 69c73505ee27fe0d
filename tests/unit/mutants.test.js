/** tests/mutants: each fault has a unique place, and existing tests. `make test-mutants` shows which test finds it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { planted } from '../mutants/copy.js';
import { FAULTS } from '../mutants/faults.js';
import { UNIT, endOf, tierOf } from '../mutants/tries.js';
import { temporaryFolder } from '../support/k6.js';

const at = (/** @type {string} */ name) => new URL(`../../${name}`, import.meta.url);

test('each fault changes its file in one place', () => {
  for (const fault of FAULTS) {
    const text = readFileSync(at(fault.file), 'utf8');
    assert.notEqual(planted(text, fault), text, fault.name);
  }
  assert.equal(new Set(FAULTS.map(({ name }) => name)).size, FAULTS.length);
});

// A fault in Go or Rust that does not compile is reported. Malformed JavaScript would only fail the tests, and so count as found.
test('what is planted in JavaScript can be read', (t) => {
  const folder = temporaryFolder('mutants');
  t.after(folder.remove);
  for (const fault of FAULTS.filter(({ file }) => /\.js$/.test(file))) {
    const path = join(folder.path, `${fault.name}.mjs`);
    writeFileSync(path, planted(readFileSync(at(fault.file), 'utf8'), fault));
    const { status, stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }
});

test('a text that stands twice, or nowhere, is no place', () => {
  const fault = { name: 'f', file: 'x', from: 'a', to: '$&b' };
  assert.equal(planted('-a-', fault), '-$&b-');
  assert.throws(() => planted('aa', fault), /f: x has the text that it replaces 2 times/);
  assert.throws(() => planted('', fault), /0 times/);
});

/** @param {import('../mutants/tries.js').Test} one */
function fileOf(one) {
  if ('go' in one) return `k6/${one.go}`;
  if ('js' in one) return `tests/${one.js}.test.js`;
  return one.rust === UNIT ? 'sidecar/src' : `sidecar/tests/${one.rust}.rs`;
}

test('40 faults at least have tests that are there, 30 of them in the first tier', () => {
  const missing = FAULTS.flatMap(({ tests }) => tests.map(fileOf)).filter((name) => !existsSync(at(name)));
  assert.deepEqual(missing, []);
  assert.ok(FAULTS.length >= 40 && FAULTS.every(({ tests }) => tests.length > 0));
  assert.ok(FAULTS.filter(({ tests }) => tests.some((one) => tierOf(one) === 'make test')).length >= 30);
});

/** @type {[import('../mutants/tries.js').Test, number, string, import('../mutants/tries.js').End][]} */
const ENDS = [
  [{ go: 'x' }, 0, 'ok  \twindtunnel/k6/internal/x\t0.1s', 'passed'],
  [{ go: 'x' }, 0, 'ok  \twindtunnel/k6/internal/x\t0.1s [no tests to run]', 'broken'],
  [{ go: 'x' }, 1, '--- FAIL: TestX (0.00s)\nFAIL\nFAIL\twindtunnel/k6/internal/x\t0.1s', 'failed'],
  [
    { go: 'x' },
    1,
    'x.go:1:1: declared and not used\nFAIL\twindtunnel/k6/internal/x [build failed]',
    'broken',
  ],
  [{ go: 'x' }, 0, '    x_test.go:1: the machine was busy (40 % …)\n--- SKIP: TestX (1.00s)\nPASS', 'busy'],
  [{ go: 'x' }, 1, '    x_test.go:1: the machine was busy (40 % …)\n--- FAIL: TestY (1.00s)\nFAIL', 'failed'],
  [{ rust: 'x', name: 'x' }, 0, 'skipped: the machine was busy (40 % …)\ntest result: ok. 2 passed', 'busy'],
  [{ rust: UNIT, name: 'x' }, 0, 'test result: ok. 2 passed; 0 failed; 0 ignored', 'passed'],
  [{ rust: UNIT, name: 'x' }, 0, 'test result: ok. 0 passed; 0 failed; 0 ignored', 'broken'],
  [{ rust: UNIT, name: 'x' }, 101, 'test result: FAILED. 1 passed; 1 failed', 'failed'],
  [{ rust: UNIT, name: 'x' }, 101, 'error: could not compile `windtunnel-sidecar`', 'broken'],
  [{ js: 'unit/x' }, 0, '3 passed, 0 failed', 'passed'],
  [{ js: 'unit/x' }, 1, '2 passed, 1 failed', 'failed'],
  [{ js: 'unit/x' }, 0, '0 passed, 0 failed', 'broken'],
  [{ js: 'unit/x' }, 0, 'skipped: alone/x: y: the machine was busy (40 % …)\n0 passed, 0 failed', 'busy'],
  [{ js: 'unit/x' }, 1, 'Error: no such file', 'broken'],
];

test('only a test that ran and failed has found a fault', () => {
  for (const [one, code, output, end] of ENDS) assert.equal(endOf(one, code, output), end, output);
});
