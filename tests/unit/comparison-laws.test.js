/** Laws of the verdicts of the matrix and of a sweep, with random edits of invented figures. One k6 runs all cases of a script. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** @param {string} path */
const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Divides the number of cases: `make test` runs some, `make test-all` runs all. */
const PART = process.env.TEST_FULL ? 1 : 5;

for (const [name, laws, all] of /** @type {[string, number, number][]} */ ([
  ['matrix', 6, 60],
  ['sweep', 5, 250],
])) {
  const cases = all / PART;
  test(`no edit breaks a law of the ${name}`, () => {
    const told = execFileSync(
      at('bin/k6'),
      ['run', '--quiet', '--no-usage-report', '-e', `CASES=${cases}`, at(`tests/support/laws/${name}.js`)],
      { encoding: 'utf8' },
    );
    const { cases: tried, broken, first } = JSON.parse(told);
    assert.equal(broken, 0, first.join('\n'));
    assert.equal(tried, laws * cases);
  });
}
