/** setup/build, and the parallel builds of the Makefile. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, cleanEnvironment, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('build');
after(() => folder.remove());

/** @param {string} makefile @param {string[]} files */
function build(makefile, files) {
  const path = folder.fresh();
  mkdirSync(join(path, 'setup'));
  copyFileSync(join(ROOT, 'setup/build'), join(path, 'setup/build'));
  writeFileSync(join(path, 'Makefile'), makefile);
  const { status, stdout, stderr } = spawnSync('bash', ['setup/build', ...files], {
    cwd: path,
    env: cleanEnvironment(),
    encoding: 'utf8',
  });
  return { status, stdout, lines: stderr.trim().split('\n') };
}

/** Each program waits until the other has begun: in sequence they would never end. */
const SIDE_BY_SIDE = `
one two:
\t@touch $@.begun
\t@echo 'go: downloading example.org v1' >&2
\t@for i in $$(seq 200); do test -e $(if $(filter one,$@),two,one).begun && break; sleep 0.05; done
\t@test -e $(if $(filter one,$@),two,one).begun && touch $@
`;

test('what is missing is built side by side, and each is told once with how many there are', () => {
  const { status, stdout, lines } = build(SIDE_BY_SIDE, ['one', 'two']);
  assert.equal(status, 0, lines.join('\n'));
  assert.equal(stdout, '');
  assert.equal(lines[0], '2 to build: one, two');
  const told = lines
    .slice(1)
    .map((line) => /^\[(\d\/2)\] (one|two) is built, \d+:\d\d$/.exec(line) ?? [line, line, line]);
  assert.deepEqual(told.map(([, place]) => place).sort(), ['1/2', '2/2']);
  assert.deepEqual(told.map(([, , name]) => name).sort(), ['one', 'two']);
  assert.doesNotMatch(lines.join('\n'), /\r|downloading/);
});

test('what is there is not built, and a failure is told and ends it', () => {
  assert.deepEqual(build('one:\n\t@touch one\n', []).status, 0);
  const failed = build('one:\n\t@echo why >&2; exit 1\n', ['one']);
  assert.equal(failed.status, 2);
  assert.ok(failed.lines.includes('why'));
});

test('what is built beside the runners is what the default run starts', () => {
  const show = (/** @type {string} */ systems) =>
    spawnSync('make', ['--silent', '--eval', `show: ; @echo $(call needs_of,${systems})`, 'show'], {
      cwd: ROOT,
      env: cleanEnvironment(),
      encoding: 'utf8',
    })
      .stdout.trim()
      .split(' ');
  const needs = (/** @type {string} */ only) =>
    spawnSync(join(ROOT, 'bin/k6'), ['x', 'needs'], {
      cwd: ROOT,
      env: { ...cleanEnvironment(), ONLY: only },
      encoding: 'utf8',
    })
      .stdout.trim()
      .split('\n');
  for (const system of ['pulsar', 'panel', 'dataplane', 'protocols', 'link', 'udp', 'users'])
    assert.deepEqual(show(system), needs(system).sort(), system);
});
