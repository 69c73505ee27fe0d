/** Base and head of a repository are built before they are measured. A failed build or a wrong name is one line, and nothing is left. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertNothingLeft, folder, sides, variables } from '../support/base-head.js';
import { compared, startCompare } from '../support/compare.js';
import { ROOT } from '../support/k6.js';
import { until } from '../support/processes.js';

test('a commit that changes no byte of the program is not measured', async () => {
  const run = await compared(sides('words'), variables);
  try {
    assert.equal(run.code, 3, run.output.stdout + run.output.stderr);
    assert.equal(run.lines.length, 1, run.lines.join('\n'));
    assert.match(
      run.lines[0],
      /^A and B are the same, with the same settings \(program [0-9a-f]{12}\): nothing is measured/,
    );
    assert.ok(!run.has('pair01-a') && !run.has('pair01-b'));
    assertNothingLeft();
  } finally {
    run.remove();
  }
});

test('one commit given twice is not even built', async () => {
  const run = await compared(sides('main'), variables);
  assert.equal(run.code, 3, run.output.stdout + run.output.stderr);
  assert.equal(run.lines.length, 1, run.lines.join('\n'));
  assert.match(
    run.lines[0],
    /^BASE and HEAD are the same \(commit [0-9a-f]{10}\): nothing is built or measured/,
  );
  assert.ok(!existsSync(run.folder));
});

test('a build that fails is one line with the path of its log', async () => {
  const run = await compared(sides('broken'), variables);
  try {
    assert.equal(run.code, 4, run.output.stdout + run.output.stderr);
    assert.equal(run.lines.length, 1, run.lines.join('\n'));
    const line =
      /^the build of head \(broken, [0-9a-f]{10}\) failed: exit status 1: .*; its log is (results\/\S+\/logs\/build-head\.log)$/;
    assert.match(run.lines[0], line);
    assert.match(readFileSync(join(ROOT, line.exec(run.lines[0])?.[1] ?? ''), 'utf8'), /SyntaxError/);
    assertNothingLeft();
  } finally {
    run.remove();
  }
});

test('what is wrong is one line before anything is built', async () => {
  for (const [args, line] of /** @type {[string[], RegExp][]} */ ([
    [sides('no-such'), /^HEAD=no-such: .* has no such revision/],
    [[...sides('slow'), '--source', '.'], /^give one of BINARY, SOURCE and WHEEL/],
    [[...sides('slow'), '--a', 'xray'], /^give --a and --b, or --base and --head/],
  ])) {
    const run = await compared(args, variables);
    try {
      assert.equal(run.code, 2, run.output.stderr);
      assert.equal(run.lines.length, 1, run.lines.join('\n'));
      assert.match(run.lines[0], line);
      assert.ok(!existsSync(run.folder));
    } finally {
      run.remove();
    }
  }
});

test('an interrupt while it builds ends the build and leaves no worktree', async () => {
  const pid = join(folder.path, 'pid');
  const run = startCompare([...sides('slow'), '--build', `echo $$ > ${pid}; sleep 600`], variables);
  try {
    await until(() => existsSync(pid) && readFileSync(pid, 'utf8') !== '', 'the build');
    run.child.kill('SIGINT');
    assert.equal(await run.ended, 130, run.output.stderr);
    assert.ok(!existsSync(`/proc/${readFileSync(pid, 'utf8').trim()}`));
    assertNothingLeft();
  } finally {
    run.remove();
  }
});
