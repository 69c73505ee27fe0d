/** Base and head of a repository are built and measured in turn. The comparison finds their difference, and nothing is left. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { compared, startCompare } from '../support/compare.js';
import { ROOT, cleanEnvironment, temporaryFolder } from '../support/k6.js';
import { until } from '../support/processes.js';
import { timely, undisturbed } from '../support/timely.js';

const folder = temporaryFolder('base-head');
after(folder.remove);
const repository = join(folder.path, 'proxy');
/** Where worktrees are made. */
const TMPDIR = join(folder.path, 'tmp');
const BUILD = 'mkdir -p out && python3 -m py_compile proxy.py && install -m 755 proxy.py out/proxy';

/** @param {string[]} args */
function git(...args) {
  const identity = ['-c', 'user.name=n', '-c', 'user.email=e@example.com'];
  const { status, stdout, stderr } = spawnSync('git', ['-C', repository, ...identity, ...args], {
    encoding: 'utf8',
    env: cleanEnvironment(),
  });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

/** A branch of main that changes a file. @param {string} name @param {string} file @param {(text: string) => string} change */
function branch(name, file, change) {
  git('checkout', '--quiet', '-B', name, 'main');
  writeFileSync(join(repository, file), change(readFileSync(join(repository, file), 'utf8')));
  git('commit', '--quiet', '--all', '--message', name);
}

before(() => {
  mkdirSync(repository);
  mkdirSync(TMPDIR);
  git('init', '--quiet');
  git('checkout', '--quiet', '-b', 'main');
  copyFileSync(`${ROOT}tests/fixtures/plain_proxy.py`, join(repository, 'proxy.py'));
  writeFileSync(join(repository, 'README'), 'A proxy\n');
  git('add', '.');
  git('commit', '--quiet', '--message', 'main');
  branch('slow', 'proxy.py', (text) => text.replace('BURN_US = 0', 'BURN_US = 500'));
  branch('words', 'README', (text) => `${text}in other words\n`);
  branch('broken', 'proxy.py', (text) => `${text}this is no Python\n`);
});

/** @param {string} head @param {string[]} [more] */
const sides = (head, more = []) => [
  ...[
    '--repository',
    repository,
    '--base',
    'main',
    '--head',
    head,
    '--binary',
    'out/proxy',
    '--build',
    BUILD,
  ],
  ...['--testbed', 'own-proxy:arguments=--listen 127.0.0.1:PORT', '--scenario', 'dataplane/socks-tcp'],
  ...more,
];
const variables = { TMPDIR, REST_S: '0', QUIET_S: '0.25', PROFILE: 'smoke', ROUND_TRIPS: '100' };

function assertNothingLeft() {
  assert.deepEqual(readdirSync(TMPDIR), []);
  assert.equal(git('worktree', 'list').split('\n').length, 1);
}

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
