/**
 * A comparison of two commits finds the slower one. Other tests would disturb it. tests/real/compare-base-head.test.js has the tests
 * without a measurement.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNothingLeft, git, sides, variables } from '../support/base-head.js';
import { compared } from '../support/compare.js';
import { timely, undisturbed } from '../support/timely.js';

test(
  'a commit that burns half a millisecond for each piece of data is found, and both commits are told',
  undisturbed(async () => {
    const run = await compared(sides('slow', ['--runs', '10']), variables);
    try {
      const { a, b, verdict, headline } = run.result();
      // If others take the CPU, nothing is compared, and the output says so.
      if (run.code === 3)
        assert.match(run.output.stdout, /of the \d+ runs of [AB] can be used; .*neighbours/);
      timely(run.code !== 3, run.output.stdout);
      assert.equal(run.code, 99, run.output.stdout + run.output.stderr);
      assert.equal(verdict, 'fail');
      for (const [side, name, ref] of [
        [a, 'base', 'main'],
        [b, 'head', 'slow'],
      ]) {
        assert.deepEqual(side.build, { name, ref, commit: git('rev-parse', ref), changed: false });
        assert.match(side.contents.program, /^[0-9a-f]{64}$/);
      }
      assert.notEqual(a.contents.program, b.contents.program);
      assert.match(headline, /^head \(slow, [0-9a-f]{10}\) is \d+ % slower than base \(main, [0-9a-f]{10}\)/);
      assert.match(
        run.text('compare.md'),
        /\| SHA-256 +\| program [0-9a-f]{12} +\| program [0-9a-f]{12} +\|/,
      );
      assert.ok(run.has('logs/build-base.log') && run.has('logs/build-head.log'));
      assertNothingLeft();
    } finally {
      run.remove();
    }
  }),
);
